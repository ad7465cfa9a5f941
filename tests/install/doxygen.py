#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command of docs/embedding.md, in a fresh copy of the sources, makes pages of the headers without a warning, and what a
header says of a function stands on them: doxygen.py SOURCE. Skipped (77) where there is no doxygen of 1.9 or newer."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HEADERS = ("lacis.h", "lacis_extend.h")


def doxygen_is_new():
    if shutil.which("doxygen") is None:
        return False
    said = subprocess.run(["doxygen", "--version"], capture_output=True, text=True).stdout
    return tuple(map(int, said.split()[0].split(".")[:2])) >= (1, 9)


def text_of(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8")))


def main():
    source = pathlib.Path(sys.argv[1])
    if not doxygen_is_new():
        print("SKIPPED: there is no doxygen of 1.9 or newer")
        return 77
    command = re.search(r"`([^`]*doxygen docs/doxygen/Doxyfile)`", (source / "docs/embedding.md").read_text())[1]
    with tempfile.TemporaryDirectory() as fresh:
        shutil.copytree(source / "docs/doxygen", pathlib.Path(fresh) / "docs/doxygen")
        shutil.copytree(source / "engine", pathlib.Path(fresh) / "engine")
        done = subprocess.run(["sh", "-c", command], cwd=fresh, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"doxygen ended with {done.returncode}:\n{done.stdout}{done.stderr}")
            return 1
        pages = {h: text_of(pathlib.Path(fresh) / "build/doxygen/html" / f"{h.replace('_', '__').replace('.h', '_8h')}.html") for h in HEADERS}
    missing = []
    for header in HEADERS:
        functions = re.findall(r"^LACIS_API [^;(]*?\b(lacis_\w+)\(", (source / "engine" / header).read_text(), re.M)
        assert len(functions) > 30, header
        missing += [name for name in functions if name not in pages[header]]
    for header, says in (("lacis.h", "Opens (and where needed creates) the database file"),
                         ("lacis.h", "two engines may run in two threads"),
                         ("lacis_extend.h", "Cheap; to be asked every few thousand steps, from any thread."),
                         ("lacis_extend.h", "SET threads")):
        if says not in pages[header]:
            missing.append(says)
    if missing:
        print("the pages lack", ", ".join(missing))
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
