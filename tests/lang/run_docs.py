#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of the documentation and compares what they print with what the documentation says.

    run_docs.py --lacis SHELL [--cc CC --include DIR --library LIB] [--update] FILE.md...

Fenced blocks that count:
    ```lacis            statements; must succeed
    ```lacis fails      statements; must end with status 1
    ```lacis skip       not run (a file that is not there)
    ```c program        a C program; is compiled against the library, run, must succeed
    ```c program from PATH   the same, and its text is that of the file PATH of the sources (--update takes it over)
    ```output           right behind one of these: its exact stdout (of `fails`: its stderr)
    ```output like      the same where figures differ from machine to machine: `~` stands for a number, blanks for
                        any run of blanks, a line of `...` for any lines
All blocks of a document share one database and one folder, in which datasets/ is at hand. --update writes what was
printed into the output blocks (but those with `like`) instead of comparing. ctest runs it over README.md and docs/;
tests/lang/check_run_docs.py checks that it can fail.
"""
import argparse
import difflib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(?P<kind>lacis|c|output)(?P<how>[^\n]*)\n(?P<text>.*?)^```[ \t]*$", re.M | re.S)
ROOT = pathlib.Path(__file__).resolve().parents[2]


class Example:
    def __init__(self, match, line):
        self.kind, self.how, self.text, self.line = match["kind"], match["how"].strip(), match["text"], line
        self.output = None  # the match of its output block
        self.match = match

    def runs(self):
        return self.how != "skip" if self.kind == "lacis" else self.how.startswith("program")

    def source(self):
        """The text of the file that it quotes, or None."""
        return (ROOT / self.how.split()[-1]).read_text() if " from " in self.how else None


def examples_of(text):
    examples, end = [], None
    for match in BLOCK.finditer(text):
        if match["kind"] == "output":
            if end is not None and not text[end : match.start()].strip():
                examples[-1].output = match
        else:
            examples.append(Example(match, text.count("\n", 0, match.start()) + 1))
        end = match.end()
    return examples


def run_lacis(example, options, folder):
    script = folder / "block.lacis"
    script.write_text(example.text)
    command = [options.lacis, "--mode", "table", "-f", script.name, "document.lacis"]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    wanted = 1 if example.how == "fails" else 0
    problem = None if done.returncode == wanted else f"ended with {done.returncode}:\n{done.stderr}"
    return (done.stderr if wanted else done.stdout), problem


def run_program(example, options, folder):
    source = folder / "program.c"
    source.write_text(example.text)
    flags = ["-std=c17", "-Wall", "-Wextra", "-Werror", f"-I{options.include}"]
    library = [options.library, f"-Wl,-rpath,{pathlib.Path(options.library).parent}", "-lm"]
    command = [options.cc, *flags, source, *library, "-o", folder / "program"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        done = subprocess.run([folder / "program"], cwd=folder, capture_output=True, text=True, timeout=120)
    return done.stdout, (f"failed:\n{done.stderr}" if done.returncode != 0 else None)


def pattern_of(wanted):
    """A text as in blocks of `output like`, as a regular expression."""
    lines = []
    for line in wanted.splitlines(True):
        if line.strip() == "...":
            lines.append(r"(?:[^\n]*\n)*?")
        else:
            words = [r"[-+0-9.e]+".join(map(re.escape, word.split("~"))) for word in re.split(" +", line)]
            lines.append(" +".join(words))
    return "".join(lines)


def compare(example, got):
    wanted = example.output["text"]
    like = example.output["how"].strip() == "like"
    if got == wanted or (like and re.fullmatch(pattern_of(wanted), got)):
        return None
    return "".join(difflib.unified_diff(wanted.splitlines(True), got.splitlines(True), "documented", "printed"))


def run_document(path, options):
    text = path.read_text()
    examples = [example for example in examples_of(text) if example.runs()]
    replacements, failures = [], 0
    for example in examples:
        source = example.source()
        if source is None or source == example.text:
            continue
        if options.update:
            example.text = source
            replacements.append((example.match.span("text"), source))
        else:
            failures += 1
            print(f"FAIL {path}:{example.line}: the text is not that of {example.how.split()[-1]}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copytree(ROOT / "datasets", folder / "datasets")
        for example in examples:
            got, problem = (run_lacis if example.kind == "lacis" else run_program)(example, options, folder)
            if problem is None and example.output is not None:
                if options.update and not example.output["how"].strip():
                    replacements.append((example.output.span("text"), got))
                else:
                    problem = compare(example, got)
            if problem:
                failures += 1
                print(f"FAIL {path}:{example.line}: {problem}")
    for (begin, end), got in sorted(replacements, reverse=True):
        text = text[:begin] + got + text[end:]
    if replacements:
        path.write_text(text)
    print(f"{path}: {len(examples)} examples, {failures} failed")
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lacis", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--include", default=str(ROOT / "engine"))
    parser.add_argument("--library")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    options.lacis = pathlib.Path(options.lacis).resolve()
    return 1 if sum([run_document(path, options) for path in options.files]) else 0


if __name__ == "__main__":
    sys.exit(main())
