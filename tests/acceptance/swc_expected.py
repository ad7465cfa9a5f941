#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads every SWC file of shared/data/swc with the lacis program, one by one and all at once, and compares what is
taken, warned of, refused and counted with expected.json.   swc_expected.py LACIS DATA"""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

# The warning that stands for each reason of expected.json.
WARNINGS = {
    "zero_length_segment": "length 0:", "zero_radius": "radius 0:", "type_ge5": "type 5 or above:",
    "several_roots": "several trees:", "ids_not_consecutive": "ids skip numbers:", "no_soma": "no soma:",
    "first_id_not_1": "first id:", "ids_not_increasing": "ids go down:", "several_somas": "several somas:",
    "type_0": "type 0:", "id_zero": "id 0:", "inline_comment": "comment behind numbers:",
    "soma_under_neurite": "soma below a neurite:", "parent_after_child": "parent after child:",
    "float_ids": "decimal ids:", "extra_columns": "more columns:", "stray_cr": "stray carriage return:",
}
CAUSES = {  # part of the message, the first reason counts
    "bad_lines": ("is no whole number", "is no finite number", "columns where a sample has 7"),
    "no_samples": ("no sample in it",), "duplicate_ids": ("stands on line",),
    "self_parent": ("is its own parent",), "missing_parent": ("which is not in the file",),
}
FIGURES = {  # column of all_files: key of expected.json
    "samples": "samples", "branch_points": "branch_points", "tips": "tips", "roots": "roots",
    "length_um": "total_length_um", "neurite_length_um": "neurite_length_um", "max_depth": "max_depth",
    "longest_unbranched": "longest_unbranched", "max_children": "max_children", "soma_samples": "soma_samples",
    "zero_radius": "zero_radius", "zero_length": "zero_length_segments", "min_id": "min_id", "max_id": "max_id",
}
checks, failures = 0, []


def equal(where, what, found, expected):
    global checks
    checks += 1
    near = isinstance(expected, float) and found not in ("", None) and abs(float(found) - expected) <= 2e-6
    if not near and str(found) != str(expected):
        failures.append(f"{where}: {what}: {found}, expected {expected}")


def lacis(program, text):
    run = subprocess.run([program, "--mode", "csv", "-c", text], capture_output=True, text=True, timeout=300)
    return run.returncode, run.stdout, run.stderr


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def number_at(message):
    """The line in "path:line:column: cause"."""
    parts = message.split(".swc:", 1)
    return int(parts[1].split(":")[0]) if len(parts) == 2 else None


def check_warnings(name, text, reasons):
    for reason, words in WARNINGS.items():
        equal(name, f"warns of {reason}", words in text, reason in reasons)


def check_refused(name, message, expected):
    reasons = expected["reject_reasons"]
    first = next(r for r in CAUSES if r in reasons)
    equal(name, "cause " + first, any(words in message for words in CAUSES[first]), True)
    if expected["first_bad_line"]:
        equal(name, "line", number_at(message), expected["first_bad_line"])
    elif first != "no_samples":
        equal(name, "names a line", number_at(message) is not None, True)


def alone(program, folder, name, expected):
    path = os.path.join(folder, name)
    code, out, err = lacis(program, f"""LOAD c FROM '{path}'; SELECT type, count(*) AS n FROM c GROUP BY type;
        SELECT count(*) FROM c AS a WHERE parent >= 0 AND NOT EXISTS (SELECT 1 FROM c AS b WHERE b.id = a.parent)"""
        if expected["samples"] <= 2000 else f"LOAD c FROM '{path}'; SELECT type, count(*) AS n FROM c GROUP BY type")
    if expected["action"] == "reject":
        equal(name, "exit code", code, 1)
        check_refused(name, err, expected)
        return
    equal(name, "exit code", code, 0)
    check_warnings(name, err, expected["warn_reasons"])
    rows = [line.split(",") for line in out.split("count(*)")[0].splitlines()[1:] if "," in line]
    equal(name, "types", {k: int(n) for k, n in rows}, expected["types"])
    if expected["samples"] <= 2000:
        equal(name, "lost parents", out.splitlines()[-1], 0)
    if "parent_after_child" in expected["warn_reasons"]:
        n = expected["parents_after_children"]
        words = r"line \d+: parent after child:" if n == 1 else rf"line \d+ and {n - 1} more: parent after child:"
        equal(name, "parents moved", re.search(words, err) is not None, True)


def together(program, folder, table_of):
    code, out, err = lacis(program, f"LOAD \"all\" FROM '{folder}/*.swc*'; SELECT * FROM all_files")
    equal("all", "exit code", code, 0)
    rows = table(out)
    equal("all", "files", len(rows), len(table_of))
    refused = sum(e["action"] == "reject" for e in table_of.values())
    equal("all", "says how many were refused", f"{refused} of {len(table_of)} files were refused" in err, True)
    cell = 0
    for row in rows:
        name = os.path.basename(row["file"])
        expected = table_of[name]
        status = {"accept": "ok", "accept_warn": "warning", "reject": "refused"}[expected["action"]]
        equal(name, "status", row["status"], status)
        if status == "refused":
            equal(name, "cell", row["cell"], "")
            check_refused(name, row["message"], expected)
            continue
        equal(name, "cell", row["cell"], cell)
        cell += 1
        check_warnings(name, row["message"], expected["warn_reasons"])
        for column, key in FIGURES.items():
            equal(name, column, row[column], expected[key])
    equal("all", "cells", cell, len(table_of) - refused)


def same_as_alone(program, folder, names):
    """The joined array has the samples of the single ones; saving one gives it back."""
    with tempfile.TemporaryDirectory() as scratch:
        saved = os.path.join(scratch, "one.swc")
        paths = ", ".join(f"'{os.path.join(folder, name)}'" for name in names)
        text = f"LOAD \"all\" FROM {paths};"
        for i, name in enumerate(names):
            columns = "id, type, x, y, z, radius, parent"
            text += f"""LOAD c FROM '{os.path.join(folder, name)}'; LET o = SELECT {columns} FROM "all" WHERE cell = {i};
                SAVE o TO '{saved}'; LOAD b FROM '{saved}';
                SELECT (SELECT count(*) FROM (SELECT {columns} FROM "all" WHERE cell = {i} EXCEPT
                                              SELECT {columns} FROM c)) AS differ,
                       (SELECT count(*) FROM (SELECT {columns} FROM c EXCEPT SELECT {columns} FROM b)) AS saved,
                       (SELECT count(*) FROM c) - (SELECT count(*) FROM b) AS lost;"""
        code, out, err = lacis(program, text)
        equal("joined", f"exit code ({err.strip()[-200:]})", code, 0)
        equal("joined", "differences", [l for l in out.splitlines() if l[:1].isdigit()], ["0,0,0"] * len(names))


def sniffing(program, folder, table_of):
    """Without its ending, each good file is still found to be SWC, or taken for what it was called before."""
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "data.txt")
        for name, expected in table_of.items():
            if expected["action"] == "reject" or expected["samples"] < 3:
                continue
            with open(os.path.join(folder, name), "rb") as old, open(path, "wb") as new:
                new.write(old.read())
            code, out, err = lacis(program, f"LOAD c FROM '{path}'; SELECT count(radius) AS n FROM c")
            equal(name, f"found by content ({err.strip()[:100]})", (code, out.split()), (0, ["n", str(expected["samples"])]))


def main():
    program, data = sys.argv[1:3]
    folder = os.path.join(data, "swc")
    if not os.path.exists(os.path.join(folder, "expected.json")):
        print(f"SKIPPED: {folder} is not here")
        return 77
    with open(os.path.join(folder, "expected.json")) as file:
        table_of = json.load(file)
    for name, expected in table_of.items():
        alone(program, folder, name, expected)
    together(program, folder, table_of)
    same_as_alone(program, folder, ["25HSS.swc", "AA0059.swc", "multiple_somata.swc", "XT6L2.CNG.swc.txt"])
    sniffing(program, folder, table_of)
    print(f"{len(table_of)} files, {checks} values compared")
    for failure in failures:
        print("FAILED", failure)
    return 1 if failures or len(table_of) < 120 else 0


if __name__ == "__main__":
    sys.exit(main())
