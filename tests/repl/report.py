#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
""".report: the page holds each statement with its messages, rows, picture and plan, is well formed, shows data as it is
and fetches nothing.   report.py LACIS"""
import base64
import html.parser
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

LACIS = pathlib.Path(sys.argv[1]).resolve()
VOID = {"meta", "img"}


class Page(html.parser.HTMLParser):
    """Sections as {class or tag: [texts]}; every tag must be closed by its own."""

    def __init__(self, text):
        super().__init__()
        self.open, self.sections, self.pictures, self.tags, self.addresses = [], [], [], set(), []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.add(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href")]
        if tag == "section":
            self.sections.append({})
        if tag not in VOID:
            self.open.append((tag, values.get("class", tag)))
        if self.sections and tag in ("td", "th", "p", "pre"):
            self.sections[-1].setdefault(values.get("class", tag), []).append("")

    def handle_endtag(self, tag):
        assert self.open and self.open[-1][0] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        if self.sections and self.open and self.open[-1][0] in ("td", "th", "p", "pre"):
            self.sections[-1][self.open[-1][1]][-1] += data


class Desk:
    def __init__(self, folder):
        self.folder = folder

    def run(self, script, code=0, options=()):
        done = subprocess.run([LACIS, *options], input=script, capture_output=True, text=True, cwd=self.folder, timeout=60)
        assert done.returncode == code, (done.returncode, done.stderr)
        return done

    def page(self, name="r.html"):
        text = (self.folder / name).read_text(encoding="utf-8")
        page = Page(text)
        assert text.startswith("<!DOCTYPE html>") and page.open == [], page.open
        assert all(address.startswith("data:image/") for address in page.addresses), page.addresses
        assert "script" not in page.tags and "link" not in page.tags and "url(" not in text
        return page


def statements_with_all_of_theirs(desk):
    done = desk.run(".report r.html\nGENERATE g AS path(n = 5);\nMULTIPLY g BY g CON nil AGG count;\n"
                    ".report off\nSELECT 'not in it';\n")
    assert "not in it" in done.stdout
    page = desk.page()
    assert [s["statement"] for s in page.sections] == [["GENERATE g AS path(n = 5);"],
                                                       ["MULTIPLY g BY g CON nil AGG count;"]]
    assert "5 vertices" in page.sections[0]["summary"][0]
    product = page.sections[1]
    assert product["th"] == ["src", "dst", "value"] and len(product["number"]) == 9
    assert "MULTIPLY" in product["pre"][0] and "rows" in product["pre"][0], product["pre"]
    assert "pre" not in page.sections[0]


def data_is_shown_as_it_is(desk):
    nasty = "</td><script>alert(1)</script>&amp;\"' \x01 \u00e9"
    desk.run(f".report r.html\nSELECT '{nasty.replace(chr(39), chr(39) * 2)}' AS \"<b>\", NULL, x'00ff', 1.5;\n"
             "SELECT '<i>' FROM nowhere;\n", code=1)
    page = desk.page()
    row = page.sections[0]
    assert row["th"][0] == "<b>" and row["td"][0] == nasty.replace("\x01", "\\x01"), row
    assert row["null"] == ["NULL"] and row["number"] == ["1.5"]
    assert "alert(1)" in row["statement"][0]
    failed = page.sections[1]
    assert failed["statement"] == ["SELECT '<i>' FROM nowhere;"] and "nowhere" in failed["error"][0], failed


def long_results_are_cut(desk):
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT i FROM n;\n"
    desk.run(".report r.html\n" + numbers.format(1234) + numbers.format(100) + "SELECT :k + 1;\n", options=["-v", "k=6"])
    long, whole, bound = desk.page().sections
    assert len(long["number"]) == 100 and "the first 100 of 1,234 rows" in long["aside"]
    assert len(whole["number"]) == 100 and len(whole["aside"]) == 1
    assert bound["number"] == ["7"]


def plots_are_pictures_in_it(desk):
    desk.run(".report r.html\nGENERATE h AS noise(9, 7);\nPLOT h;\nPLOT h TO 'h.svg';\n")
    page = desk.page()
    assert len(page.addresses) == 2
    for address in page.addresses:
        kind, _, data = address.partition(",")
        assert kind == "data:image/svg+xml;base64"
        assert xml.etree.ElementTree.fromstring(base64.b64decode(data)).tag.endswith("svg")
    assert base64.b64decode(page.addresses[1].partition(",")[2]) == (desk.folder / "h.svg").read_bytes()
    desk.run(".report r.html\nGENERATE p AS path(600);\nPLOT p;\nPLOT p TO 'p.svg';\n")
    page = desk.page()  # what the terminal has too few characters for is as fine as in a file
    assert base64.b64decode(page.addresses[0].partition(",")[2]) == (desk.folder / "p.svg").read_bytes()


def failures_are_told(desk):
    done = desk.run(".report no/such/folder/r.html\n", code=1)
    assert "cannot write to no/such/folder/r.html: No such file" in done.stderr
    full = pathlib.Path("/dev/full")
    if full.exists():
        done = desk.run(".report /dev/full\nSELECT 1;\nSELECT 2;\n", code=1)
        assert "cannot write to /dev/full: No space left" in done.stderr and "2" not in done.stdout, done
    desk.run(".report a.html\nSELECT 1;\n.report b.html\nSELECT 2;\n")
    assert len(desk.page("a.html").sections) == len(desk.page("b.html").sections) == 1


def main():
    for case in (statements_with_all_of_theirs, data_is_shown_as_it_is, long_results_are_cut, plots_are_pictures_in_it,
                 failures_are_told):
        with tempfile.TemporaryDirectory() as name:
            case(Desk(pathlib.Path(name)))
        print("ok", case.__name__)


if __name__ == "__main__":
    main()
