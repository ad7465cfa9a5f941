#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual page names every option, dot command, mode and exit code that --help and .help name, and no dot command
besides; it names what the shell reads of the environment, but for variables that all programs go by (HOME, TMUX ...). The
usage line has every option. mandoc and groff, where they are there, format the page without a warning, and man shows its
text: check_docs.py LACIS PAGE."""
import pathlib
import re
import shutil
import subprocess
import sys


def output(*command):
    return subprocess.run(command, capture_output=True, check=True, text=True, stdin=subprocess.DEVNULL).stdout


def page_text(path):
    text = open(path, encoding="utf-8").read()
    for escape, char in (("\\-", "-"), ("\\e", "\\"), ("\\[u2026]", "…"), ("\\(u2026", "…")):
        text = text.replace(escape, char)
    return text.replace('"', "")


def variables(page):
    """What repl/ reads of the environment, but for what programs in general go by."""
    sources = (pathlib.Path(page).resolve().parents[1] / "repl").glob("*.c")
    names = {name for source in sources for name in re.findall(r'(?:getenv|is_set)\("(\w+)"', source.read_text())}
    assert "LACIS_PLOT" in names, "the sources were not understood"
    return [name for name in sorted(names) if name.startswith("LACIS") or name in ("NO_COLOR", "TERM")]


def complaints(path):
    """What the programs that format manual pages say of it; long lines of the source are no fault."""
    said = []
    if shutil.which("mandoc"):
        done = subprocess.run(["mandoc", "-T", "lint", path], capture_output=True, text=True)
        said += [line for line in done.stdout.splitlines() if "longer than 80 bytes" not in line]
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-ww", "-z", "-K", "utf8", path], capture_output=True, text=True)
        said += done.stderr.splitlines()
    if shutil.which("man"):
        done = subprocess.run(["man", "-l", path], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        text = re.sub(r".\x08", "", done.stdout)
        if "minimized" not in text:  # a container's stand-in for man
            said += [f"man -l shows no {head}" for head in ("SYNOPSIS", "--reference") if head not in text.replace("−", "-").replace("‐", "-")]
    return said


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
    missing += [v for v in variables(sys.argv[2]) if f"\n.B {v}\n" not in page]
    formatting = complaints(sys.argv[2])
    for what, names in (("formatting the manual page", formatting), ("the manual page or usage line lacks", missing), ("the manual page has but .help lacks", stale)):
        if names:
            print(f"{what}: {', '.join(names)}")
    return bool(missing or stale or formatting)


if __name__ == "__main__":
    sys.exit(main())
