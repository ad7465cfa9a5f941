#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual page names every option, dot command, mode and exit code that --help and .help name, and no dot command
besides: check_docs.py LACIS PAGE."""
import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, capture_output=True, check=True, text=True, stdin=subprocess.DEVNULL).stdout


def page_text(path):
    text = open(path, encoding="utf-8").read()
    for escape, char in (("\\-", "-"), ("\\e", "\\"), ("\\[u2026]", "…"), ("\\(u2026", "…")):
        text = text.replace(escape, char)
    return text.replace('"', "")


def main():
    lacis, page = sys.argv[1], page_text(sys.argv[2])
    missing = []
    options = re.findall(r"^  (-\S+)", output(lacis, "--help"), re.M)
    commands = re.findall(r"^(\.[a-z]+(?: \S+)?)(?=  )", output(lacis, "-c", ".help"), re.M)
    commands = [c for c in commands if not re.match(r"\.help [a-zV]", c)]
    modes = re.findall(r"^([a-z]+) ", output(lacis, "-c", ".help modes"), re.M)
    codes = re.findall(r"^(\d+)  ", output(lacis, "-c", ".help codes"), re.M)
    assert len(options) >= 6 and len(commands) >= 14 and len(modes) == 9 and len(codes) == 5, "help was not understood"
    missing += [o for o in options if not re.search(rf"^\.BI? {o}(\s|$)", page, re.M)]
    missing += [c for c in commands if f"\n.B {c}\n" not in page]
    missing += [m for m in modes + codes if f"\n.B {m}\n" not in page]
    stale = [c for c in re.findall(r"^\.B (\.[a-z]+(?: \S+)?)$", page, re.M)
             if c not in commands and c not in (".help statements", ".help VERB")]
    usage = re.search(r"^usage: (.*)$", output(lacis, "--help"), re.M).group(1)
    missing += [o for o in options if o not in usage]
    for what, names in (("the manual page or usage line lacks", missing), ("the manual page has but .help lacks", stale)):
        if names:
            print(f"{what}: {', '.join(names)}")
    return bool(missing or stale)


if __name__ == "__main__":
    sys.exit(main())
