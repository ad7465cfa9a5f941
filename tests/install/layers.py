#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Includes go one way only (DESIGN, section 1). Two checks:

1. Every #include "..." in the tree is one that its folder may use (RULES below).
2. The build enforces it: with the very options of the build, #include "core/run.h" in a loader or an operator does
   not compile, and #include "lacis_extend.h" does.

ctest runs it: layers.py SOURCE BUILD
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys

# Inner order of engine/, lowest first; a folder may use itself and what stands before it.
ENGINE = [["core"], ["expr"], ["catalog", "jit"], ["lang"], ["plan"], ["exec"], ["api"]]
SDK = ["lacis.h", "lacis_extend.h", "lacis_extend_batch.h", "lacis_extend_bodies.h", "lacis_extend_expr.h", "lacis_extend_gpu.h",
       "lacis_extend_grid.h", "lacis_extend_ranks.h",
       "lacis_extend_save.h", "lacis_extend_symmetric.h", "lacis_extend_tune.h"]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def engine_allows(layer, include):
    if include in SDK or include == "common/parallel.h":  # the thread team
        return True
    folder = include.split("/")[0]
    lower = [name for group in ENGINE[: next(i for i, g in enumerate(ENGINE) if layer in g)] for name in group]
    return folder == layer or folder in lower


def sibling_folders():
    root = pathlib.Path(sys.argv[1]).resolve()
    return {folder.name for top in ("operators", "kernels") for folder in (root / top).iterdir()}


def allows(path, include):
    """Whether the file at `path` (relative to the root) may include `include`."""
    top, folder = path.parts[0], path.parts[1] if len(path.parts) > 2 else None
    beside = "/" not in include and include not in SDK
    if top == "engine":
        return include in SDK if folder is None else engine_allows(folder, include) or beside
    if top == "kernels":
        return beside or include.split("/")[0] in ("common", folder)
    if top == "operators":  # other operators' headers count too: power builds on multiply
        return beside or include in SDK or include.split("/")[0] in sibling_folders()
    if top == "loaders":
        return beside or include in SDK
    return beside or include == "lacis.h"  # repl


def check_text(root):
    problems = []
    for top in ("engine", "kernels", "operators", "loaders", "repl"):
        for file in sorted((root / top).rglob("*.[ch]")):
            path = file.relative_to(root)
            for include in INCLUDE.findall(file.read_text()):
                if not allows(path, include):
                    problems.append(f'{path} includes "{include}"')
    return problems


def compiles(entry, text):
    """Compiles `text` in place of the entry's source, with its options."""
    command = shlex.split(entry["command"])
    command = command[: command.index("-o")] + ["-fsyntax-only", "-Wno-error", "-x", "c", "-"]
    done = subprocess.run(command, input=text, text=True, cwd=entry["directory"], capture_output=True, check=False)
    return done.returncode == 0


def check_build(root, build):
    problems = []
    entries = json.loads((build / "compile_commands.json").read_text())
    seen = set()
    for entry in entries:
        path = pathlib.Path(entry["file"])
        if not path.is_relative_to(root):
            continue
        folder = path.parent.relative_to(root)
        if folder.parts[0] not in ("loaders", "operators", "kernels") or folder in seen:
            continue
        seen.add(folder)
        if compiles(entry, '#include "core/run.h"\n'):
            problems.append(f"in {folder} the build lets core/run.h be included")
        sdk = compiles(entry, '#include "lacis_extend.h"\n')
        if sdk != (folder.parts[0] != "kernels"):
            problems.append(f'in {folder} lacis_extend.h is {"" if sdk else "not "}in reach')
    if not {"loaders", "operators", "kernels"} <= {folder.parts[0] for folder in seen}:
        problems.append(f"compile_commands.json only knows {sorted(map(str, seen))}")
    return problems


def main():
    root, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    problems = check_text(root) + check_build(root, build)
    print("\n".join(problems) or "includes follow the layers")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
