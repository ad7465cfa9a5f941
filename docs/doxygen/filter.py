#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""doxygen's INPUT_FILTER: comments of a header in the form that doxygen reads. filter.py HEADER writes the header with

    the comment at its head      as that of the file
    one on lines of its own      as that of what follows
    one behind code              as that of the code before it
    a ruler (/* ---- name */)    as it is

and what doxygen would take for commands or tags quoted. No line is added or lost."""
import re
import sys

COMMENT = re.compile(r"(?P<code>[^\n]*?)/\*(?P<text>.*?)\*/", re.S)


def quoted(text):
    text = re.sub(r"[\\@<>&#%\"$]", lambda found: "\\" + found[0], text)
    return re.sub(r"(?<= )\.+(?=\s|$)", lambda found: "\\." * len(found[0]), text)  # a lone point ends a list


def rewritten(match):
    code, text = match["code"], match["text"]
    if text.lstrip().startswith("---"):
        return match[0]
    if "SPDX-License" in text:
        head = re.sub(r"SPDX-License-Identifier: [\w.-]+", "@file", text, count=1)
        before, after = head.split("@file", 1)
        return f"{code}/**{before}@file{quoted(after)}*/"
    mark = "/**<" if code.strip() else "/**"
    return f"{code}{mark}{quoted(text)}*/"


def main():
    sys.stdout.write(COMMENT.sub(rewritten, open(sys.argv[1], encoding="utf-8").read()))


if __name__ == "__main__":
    main()
