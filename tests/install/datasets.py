#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""datasets/: friends.txt, cell.swc, cluster.csv and plate.pgm are what their generators write, and the manifest tells the
truth about the public files that are here. ctest runs it: datasets.py SOURCE SHARED_DATA
"""
import csv
import hashlib
import pathlib
import subprocess
import sys


def check_made(folder, name, script):
    made = subprocess.run([sys.executable, folder / script], capture_output=True, check=True).stdout
    return [] if made == (folder / name).read_bytes() else [f"{name} is not what {script} writes"]


def place_of(name, folder, shared):
    if name.startswith("swc/"):
        return shared / name
    return folder / name if "/" not in name else shared / "graphs" / name


def check_manifest(folder, shared):
    problems, seen, names = [], 0, set()
    with open(folder / "manifest.csv", newline="") as file:
        for row in csv.DictReader(file):
            # What was never here, on the sites of its makers, is without size and sum.
            unseen = row["url"] and not row["url"].startswith("https://raw.githubusercontent.com/")
            known = len(row["sha256"]) == 64 and row["bytes"].isdigit()
            unknown = unseen and row["sha256"] == "" and row["bytes"] == ""
            if not all(row[key] for key in ("name", "what", "source", "licence")) or not (known or unknown):
                problems.append(f"manifest.csv: incomplete: {row}")
            last = row["name"].rsplit("/", 1)[-1]
            if last in names or not all(ord(c) > 32 and c not in ',"' for c in row["name"]):
                problems.append(f"manifest.csv: a name that fetch cannot use: {row['name']}")
            names.add(last)
            if ("/" in row["name"]) != row["url"].startswith("https://"):
                problems.append(f"manifest.csv: files in folders have an address, those of lacis have none: {row}")
            path = place_of(row["name"], folder, shared)
            if path.exists() and known:
                seen += 1
                data = path.read_bytes()
                if hashlib.sha256(data).hexdigest() != row["sha256"] or len(data) != int(row["bytes"]):
                    problems.append(f"{row['name']} is not the file of the manifest")
    print(f"manifest.csv: {seen} of its files are here")
    return problems


def main():
    folder = pathlib.Path(sys.argv[1]) / "datasets"
    problems = check_made(folder, "friends.txt", "make_friends.py") + check_made(folder, "cell.swc", "make_cell.py")
    problems += check_made(folder, "cluster.csv", "make_cluster.py") + check_made(folder, "plate.pgm", "make_plate.py")
    problems += check_manifest(folder, pathlib.Path(sys.argv[2]))
    print("\n".join(problems) or "datasets/ is as it says")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
