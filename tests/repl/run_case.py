#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one golden case of the shell: run_case.py LACIS CASE.

A case is a text file of sections, each begun by a line "=== name":
    args             words of the command line, quoted as in sh
    stdin            what is piped in (nothing if left out)
    file NAME        a file to make in the working folder, which is new and empty
    stdout           must be equal (empty if left out)
    stderr           must be equal (empty if left out)
    stdout contains, stderr contains
                     each line must occur, in this order
    result NAME      a file that must be there afterwards with this content
    exit N           the exit code (0 if left out)
Lines before the first section say what the case is for. \\e, \\t, \\r and \\0 in sections with "escaped" behind their
name are those characters.
"""
import os
import shlex
import subprocess
import sys
import tempfile


def read_case(path):
    """Sections as (name, rest of the heading, content)."""
    sections = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("=== "):
                name, _, rest = line[4:].strip().partition(" ")
                sections.append([name, rest, ""])
            elif sections:
                sections[-1][2] += line
    for section in sections:
        if section[1].endswith("escaped"):
            section[1] = section[1][: -len("escaped")].strip()
            for name, char in (("\\e", "\033"), ("\\t", "\t"), ("\\r", "\r"), ("\\0", "\0")):
                section[2] = section[2].replace(name, char)
    return sections


def occurs_in_order(wanted, text):
    at = 0
    for line in wanted.splitlines():
        found = text.find(line, at)
        if found < 0:
            return line
        at = found + len(line)
    return None


def compare(name, expected, contains, got, failures):
    if contains:
        missing = occurs_in_order(expected, got)
        if missing is not None:
            failures.append(f"{name} lacks (in this order): {missing}\n--- {name} was\n{got}")
    elif got != expected:
        failures.append(f"{name} differs\n--- expected\n{expected}--- got\n{got}")


def run(lacis, sections, folder):
    args, stdin, code, expected, results = [], "", 0, {}, []
    for name, rest, content in sections:
        if name == "args":
            args += shlex.split(content)
        elif name == "stdin":
            stdin = content
        elif name == "file":
            with open(os.path.join(folder, rest), "w", encoding="utf-8", newline="") as file:
                file.write(content)
        elif name in ("stdout", "stderr"):
            expected[name] = (content, rest == "contains")
        elif name == "result":
            results.append((rest, content))
        elif name == "exit":
            code = int(rest)
        else:
            raise SystemExit(f"unknown section: {name}")
    done = subprocess.run([lacis] + args, input=stdin.encode(), capture_output=True, cwd=folder, timeout=100,
                          check=False, env=dict(os.environ, LC_ALL="C.UTF-8", HOME=folder))
    failures = []
    for name, got in (("stdout", done.stdout), ("stderr", done.stderr)):
        content, contains = expected.get(name, ("", False))
        compare(name, content, contains, got.decode("utf-8", "replace"), failures)
    for file, content in results:
        path = os.path.join(folder, file)
        got = open(path, encoding="utf-8", newline="").read() if os.path.exists(path) else "(no such file)\n"
        compare(file, content, False, got, failures)
    if done.returncode != code:
        failures.append(f"exit code {done.returncode}, expected {code}\n--- stderr was\n{done.stderr.decode()}")
    return failures


def main():
    lacis, case = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        failures = run(lacis, read_case(case), folder)
    for failure in failures:
        print(failure)
    print(f"{'failed' if failures else 'passed'}: {os.path.basename(case)}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
