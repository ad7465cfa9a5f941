#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Neurons against NEURON 8: what its import3d makes of every public SWC file, matrix coefficients, and voltages.

Usage: neuron.py LACIS SHARED_DATA [WORD ...]    (words: only cases whose names hold one of them)

LACIS is the shell; SHARED_DATA holds neuron/*.json and swc/. Ends with 77 where the data are not there.
Tolerances: sections and coefficients 1e-12 relative; voltages 1e-9 mV (passive) and 1e-7 mV (channels).

Environment: LACIS_TEST_ON, a clause for every SIMULATE ("ON GPU"; then voltages alone are checked, and a case that the
way in LACIS_SIMULATE_WAY does not do is passed over)."""
import glob
import json
import math
import os
import subprocess
import sys

SNAPSHOT_STEPS = 1.0  # ms: all snapshots stand at whole milliseconds
ON = os.environ.get("LACIS_TEST_ON", "")


def lacis(shell, text, fine=True):
    done = subprocess.run([shell, "--mode", "csv", "-f", "-"], input=text, capture_output=True, text=True)
    if fine and done.returncode != 0:
        raise RuntimeError(done.stderr[-600:])
    return done


def rows(shell, text):
    return [line.split(",") for line in lacis(shell, text).stdout.splitlines()[1:]]


def near(value, wanted, relative=1e-12):
    return abs(value - wanted) <= relative * abs(wanted)


def samples(case):
    """The statement that makes `cell` for the cases without a file."""
    if "cable" in case["case"]:
        return "GENERATE cell AS cable(length = 1000, diameter = 2);"
    thin = repr(2 * 2 ** (-2 / 3))
    return f"GENERATE cell AS cable(length = 500, diameter = 2, branches = 2, branch_diameter = {thin});"


def load(case, data):
    if "swc" not in case:
        return samples(case)
    file = case["swc"]["file"]
    path = os.path.join(data, file)
    if not os.path.exists(path):
        path = os.path.join(data, "neuron", os.path.basename(file))
    return f"LOAD cell FROM '{path}';"


def names(case):
    """NEURON's section names as ours: cables and branches have others."""
    own = [s["name"] for s in case["sections"]]
    if "swc" in case:
        return {name: name for name in own}
    if len(own) == 1:
        return {own[0]: "dend[0]"}
    return {own[0]: "soma[0]", own[1]: "dend[0]", own[2]: "dend[1]"}


def cut(case):
    if "dlambda" in case["case"]:
        return "DLAMBDA 0.1 AT 100"
    exact = "" if "swc" in case else " EXACT"  # cables were made without points
    return f"NSEG {case['sections'][0]['nseg']}{exact}"


def check_compartments(shell, case, data):
    found = rows(shell, load(case, data) + f"COMPARTMENTS cell {cut(case)};")
    nodes = case["nodes"]
    assert len(found) == nodes["n"], f"{len(found)} nodes for {nodes['n']}"
    for i, row in enumerate(found):
        assert int(row[5]) == nodes["parent"][i], f"node {i}: parent {row[5]}"
        assert near(float(row[4]), nodes["x"][i]), f"node {i}: x"
        for column, name in ((6, "area_um2"), (8, "ri_MOhm_to_parent"), (9, "NODEA"), (10, "NODEB")):
            wanted = nodes[name][i] or 0.0
            assert near(float(row[column]), wanted), f"node {i}: {name} {row[column]} for {wanted}"


def statement(case, probes, every):
    dt, stimulus, parameters = case["method"]["dt_ms"], case["stimulus"], case["parameters"]
    name = names(case)
    place = f"'{name[stimulus['section']]}({stimulus['x']!r})'"
    first, last = stimulus["delay_ms"], stimulus["delay_ms"] + stimulus["dur_ms"]
    text = f"SIMULATE cell DT {dt} STEPS {round(case['method']['tstop_ms'] / dt)} {cut(case)}"
    text += f" CLAMP {place} {stimulus['amp_nA']} FROM {first} TO {last} EVERY {every}"
    if case["method"]["secondorder"]:
        text += " METHOD crank_nicolson"
    if "gnabar_hh" in parameters:
        text += f" HH CELSIUS {parameters['celsius_degC']}"
    for section, x in probes:
        text += f" PROBE '{name[section]}({x!r})'"
    return f"{text} {ON}"


def worst_of(found, wanted):
    assert len(found) == len(wanted), f"{len(found)} samples for {len(wanted)}"
    return max(abs(float(v) - w) for v, w in zip(found, wanted))


def check_traces(case, found):
    worst = 0.0
    for i, name in enumerate(case["recorded"]):
        worst = max(worst, worst_of([v for probe, v in found if int(probe) == i], case["v_mV"][name]))
    return worst


def check_snapshots(case, found):
    worst = 0.0
    for time, wanted in case["snapshots_v_mV_by_node"].items():
        worst = max(worst, worst_of([v for t, v in found if float(t) == float(time)], wanted))
    return worst


def voltage_script(case, data, number):
    """Statements that print what probes recorded, and all nodes at some moments, each row marked with the number."""
    dt, nodes = case["method"]["dt_ms"], case["nodes"]
    every = round((case["time_ms"][1] - case["time_ms"][0]) / dt)
    traces = statement(case, [(r["section"], r["x"]) for r in case["recorded"].values()], every)
    snapshots = statement(case, list(zip(nodes["section"], nodes["x"])), round(SNAPSHOT_STEPS / dt))
    return (f"{load(case, data)}\nLET v{number} = {traces};\nLET w{number} = {snapshots};\n"
            f"SELECT 'trace', {number}, probe, v FROM v{number} ORDER BY probe, t;\n"
            f"SELECT 'snapshot', {number}, round(t), v FROM w{number} ORDER BY t, probe;\n")


def worst_voltage(case, number, found):
    """Of rows that voltage_script made the shell print; None where there are none."""
    own = [r for r in found if len(r) == 4 and r[1] == str(number)]
    if not own:
        return None
    return max(check_traces(case, [r[2:] for r in own if r[0] == "trace"]),
               check_snapshots(case, [r[2:] for r in own if r[0] == "snapshot"]))


def verdict(case, worst):
    bound = 1e-7 if "gnabar_hh" in case["parameters"] else 1e-9
    assert worst <= bound, f"voltages differ by {worst:.3g} mV"
    return f"{worst:.2g} mV"


def has_voltages(case):
    """Those of CVODE and of rate tables are other methods' than ours."""
    if "cvode" in case["case"]:
        return False
    return "gnabar_hh" not in case["parameters"] or case["case"].endswith("notable")


def check_case(shell, path, data):
    case = json.load(open(path))
    if "cvode" in case["case"]:
        return "other method"
    check_compartments(shell, case, data)
    if not has_voltages(case):
        return "coefficients only: NEURON's rate tables"
    found = [line.split(",") for line in lacis(shell, voltage_script(case, data, 0)).stdout.splitlines()]
    return verdict(case, worst_voltage(case, 0, found))


def check_on(shell, paths, data):
    """Voltages of all cases with the clause ON, in one run of the shell, since a GPU's start takes a while."""
    cases = [case for case in map(lambda path: json.load(open(path)), paths) if has_voltages(case)]
    script = "".join(voltage_script(case, data, i) for i, case in enumerate(cases))
    done = lacis(shell, ".bail off\n.log off\n" + script, fine=False)
    found = [line.split(",") for line in done.stdout.splitlines()]
    bad = checked = 0
    for i, case in enumerate(cases):
        try:
            worst = worst_voltage(case, i, found)
            said = "not by this way" if worst is None else verdict(case, worst)
            checked += worst is not None
        except AssertionError as failure:
            bad += 1
            said = f"FAILED: {failure}"
        print(f"{case['case']}: {said}")
    other = [line for line in done.stderr.splitlines()
             if ": error: " in line and "cannot run on a" not in line and "no such table" not in line]
    print("\n".join(other + [f"{bad} failed, {checked} cases of voltages"]))
    return 1 if bad or other or checked == 0 else 0


def check_import(shell, name, entry, data):
    path = os.path.join(data, "swc", name)
    done = lacis(shell, f"LOAD cell FROM '{path}' AS swc; LET s = SECTIONS cell; "
                 "SELECT count(*), sum(type = 1), sum(length_um), sum(area_um2), sum(nseg), min(nseg), "
                 "sum(parent < 0), (SELECT type FROM s WHERE parent < 0) FROM s;", fine=False)
    if "sections" not in entry:
        return "NEURON cannot"
    if done.returncode != 0:
        return "refused: " + done.stderr.strip().splitlines()[0][-90:]
    row = done.stdout.splitlines()[1].split(",")
    assert int(row[0]) == entry["sections"], f"{row[0]} sections for {entry['sections']}"
    assert int(row[1]) == entry["soma_sections"], f"{row[1]} soma sections"
    assert near(float(row[2]), entry["total_length_um"]), f"length {row[2]} for {entry['total_length_um']}"
    assert near(float(row[3]), entry["total_area_um2"]), f"area {row[3]} for {entry['total_area_um2']}"
    assert int(row[6]) == len(entry["roots"]), f"{row[6]} roots"
    if entry["nseg_dlambda"] is not None:
        assert int(row[4]) == entry["nseg_dlambda"], f"nseg {row[4]} for {entry['nseg_dlambda']}"
    return "same"


def main():
    shell, data, words = sys.argv[1], sys.argv[2], sys.argv[3:]
    summary = os.path.join(data, "neuron", "swc_import3d_summary.json")
    if not os.path.exists(summary):
        print(f"{summary} is not there")
        return 77
    def wanted(name):
        return not words or any(word in name for word in words)

    paths = [p for p in sorted(glob.glob(os.path.join(data, "neuron", "[abcd]_*.json"))) if wanted(os.path.basename(p))]
    if ON:
        return check_on(shell, paths, data)
    files = json.load(open(summary))["files"]
    cases = [(os.path.basename(p), lambda p=p: check_case(shell, p, data)) for p in paths]
    cases += [(f, lambda f=f: check_import(shell, f, files[f], data)) for f in sorted(files) if wanted(f)]
    bad = 0
    for name, check in cases:
        try:
            print(f"{name}: {check()}")
        except (AssertionError, RuntimeError) as failure:
            bad += 1
            print(f"{name}: FAILED: {failure}")
    print(f"{bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
