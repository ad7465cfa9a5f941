#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_docs.py must fail where a document is wrong, and only there: check_run_docs.py LACIS LIBRARY. Without this, pages that
nobody runs would look like pages that are right."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOOD, BAD = True, False
CASES = [
    (GOOD, "```lacis\nSELECT 1 AS one;\n```\n```output\none\n---\n  1\n```\n"),
    (BAD, "```lacis\nSELECT 1 AS one;\n```\n```output\none\n---\n  2\n```\n"),
    (BAD, "```lacis\nSELECT 1 AS one;\n```\n```output\none\n---\n  1\n \n```\n"),
    (BAD, "```lacis\nSELECT * FROM nowhere;\n```\n"),
    (BAD, "```lacis\nSELECT 1 AS one;\nSELECT nothing;\n```\n```output\none\n---\n  1\n```\n"),
    (GOOD, "```lacis fails\nSELECT nothing;\n```\n"),
    (BAD, "```lacis fails\nSELECT 1;\n```\n"),
    (GOOD, "```lacis skip\nSELECT nothing;\n```\n"),
    (GOOD, "```lacis\nLET a = SELECT 1 AS i, 2 AS value;\n```\n\n```lacis\nSELECT value FROM a;\n```\n"),
    (GOOD, "```lacis\nSELECT 1.5 AS x, 7 AS y;\n```\n```output like\n x    y\n...\n~  ~\n```\n"),
    (BAD, "```lacis\nSELECT 'a' AS x;\n```\n```output like\nx\n-\n~\n```\n"),
    (BAD, "```lacis\nSELECT 1 AS x;\n```\n```output like\ny\n...\n```\n"),
    (BAD, "```lacis\nSELECT 1 AS x;\n```\n```output like\nx\n-\n~\nmore\n```\n"),
    (GOOD, "```c program\nint main(void) { return 0; }\n```\n"),
    (BAD, "```c program\nint main(void) { return 1; }\n```\n"),
    (BAD, "```c program from examples/embedding/graph.c\nint main(void) { return 0; }\n```\n"),
]


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.md"
        for good, text in CASES:
            page.write_text(text)
            command = [sys.executable, ROOT / "tests/lang/run_docs.py", "--lacis", sys.argv[1],
                       "--library", sys.argv[2], page]
            done = subprocess.run(command, capture_output=True, text=True)
            said = f"examples, {0 if good else 1} failed" in done.stdout
            if done.returncode != (0 if good else 1) or not said:
                wrong += 1
                print(f"FAIL: ended with {done.returncode}:\n{text}{done.stdout}{done.stderr}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
