#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/reference.md is what lacis --reference writes, and that names every operator, option, format and generator that
there is: reference.py LACIS PAGE."""
import csv
import difflib
import subprocess
import sys


def output(*command):
    return subprocess.run(command, capture_output=True, check=True, text=True, stdin=subprocess.DEVNULL).stdout


def main():
    lacis, page = sys.argv[1], open(sys.argv[2], encoding="utf-8").read()
    made = output(lacis, "--reference")
    if made != page:
        sys.stdout.writelines(difflib.unified_diff(page.splitlines(True), made.splitlines(True), "page", "lacis --reference"))
        print("docs/reference.md is out of date: cmake --build BUILD --target reference")
        return 1
    missing = []
    for what, mark in (("OPERATORS", "### {}\n"), ("OPTIONS", "| `{}` |"), ("LOADERS", "| `{}` |"), ("GENERATORS", "| `{}` |"),
                       ("AGGREGATES", "| `{}` |")):
        rows = list(csv.reader(output(lacis, "--mode", "csv", "-c", f"SHOW {what}").splitlines()))[1:]
        assert len(rows) >= 6, what
        missing += [row[0] for row in rows if mark.format(row[0]) not in page]
    if missing:
        print("lacis --reference lacks", ", ".join(missing))
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
