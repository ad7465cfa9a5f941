#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No room left, by a limit on file sizes and on a small tmpfs: exit code 1, a message that says so, the database as it
was, the file that SAVE would have replaced untouched, and the session goes on. Also what SAVE may and may not write
to.   full_disk.py LACIS"""
import os
import resource
import stat
import subprocess
import sys
import tempfile
import threading

from program import Program, plain_user, run_all

LACIS = Program(sys.argv[1])
LARGE = "GENERATE g AS uniform(n = 100000, degree = 8, seed = 1)"  # 4 MB in the database, 9 MB as text
KEPT = "SELECT count(*) FROM kept; SELECT count(*) FROM old"


def limit_sizes():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))


def make_database(folder):
    LACIS.good("GENERATE kept AS path(1000); CREATE TABLE old AS SELECT * FROM kept;", "d.lacis", folder=folder)


def check_database(folder):
    """Nothing of the failed statement is there, and nothing that was there is gone."""
    rows = LACIS.good(f"{KEPT}; PRAGMA integrity_check; SELECT name FROM lacis_array; SELECT count(*) FROM lacis_chunk;",
                      "d.lacis", folder=folder)
    assert rows == [["count(*)"], ["999"], ["count(*)"], ["999"], ["integrity_check"], ["ok"], ["name"], ["kept"],
                    ["count(*)"], ["2"]], rows
    assert not os.path.exists(os.path.join(folder, "d.lacis-journal"))


WRITERS = (  # statements that need more room than there is
    LARGE,
    "CREATE TABLE t AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 400000) SELECT x FROM c",
    "LET big = SELECT a.src AS src, b.src AS dst FROM kept a, kept b WHERE a.src < 600",
)


def fill(folder, **how):
    for statement in WRITERS:
        make_database(folder)
        err = LACIS.bad("the disk is full", statement + ";", "d.lacis", folder=folder, **how)
        assert "as it was before" in err, err
        assert "big:" not in err and "g:" not in err, f"a graph is told of that is not there: {err}"
        check_database(folder)
        code, out, err = LACIS.run(f".bail off\n{statement};\n{KEPT};\nGENERATE tiny AS path(5);\n"
                                   "SELECT count(*) FROM tiny;", "d.lacis", folder=folder, **how)
        assert code == 1 and out.split() == ["count(*)", "999", "count(*)", "999", "count(*)", "4"], (out, err)
        os.unlink(os.path.join(folder, "d.lacis"))


def file_size_limit():
    with tempfile.TemporaryDirectory() as folder:
        fill(folder, preexec_fn=limit_sizes)


def loading_with_a_limit():
    with tempfile.TemporaryDirectory() as folder:
        make_database(folder)
        with open(os.path.join(folder, "e.txt"), "w", encoding="ascii") as file:
            file.writelines(f"{i * 3} {i * 7} {i}.5\n" for i in range(150000))
        LACIS.bad("the disk is full", "LOAD g FROM 'e.txt';", "d.lacis", folder=folder, preexec_fn=limit_sizes)
        check_database(folder)


def small_file_system():
    if os.getuid() != 0:
        return "left out, only root mounts a tmpfs"
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", "size=1200k", "none", folder]
        if subprocess.run(mount, stderr=subprocess.DEVNULL, check=False).returncode != 0:
            return "left out, no tmpfs can be mounted here"
        try:
            fill(folder)
            saved_over("No space left on device", folder)
        finally:
            subprocess.run(["umount", folder], check=True)
    return None


def saved_over(reason, folder, **how):
    path = os.path.join(folder, "out.csv")
    with open(path, "w", encoding="ascii") as file:
        file.write("what was there\n")
    for format in ("csv", "snap", "mtx", "jsonl"):
        LACIS.bad(f"cannot write \"out.csv\": {reason}", f"{LARGE}; SAVE g TO 'out.csv' AS {format};", folder=folder,
                  **how)
        view = "CREATE VIEW v AS MULTIPLY g BY g CON nil AGG count"
        LACIS.bad(f"cannot write \"out.csv\": {reason}", f"{LARGE}; {view}; SAVE v TO 'out.csv' AS {format};",
                  folder=folder, **how)
        assert open(path, encoding="ascii").read() == "what was there\n"
        assert os.listdir(folder) == ["out.csv"], os.listdir(folder)


def save_with_a_limit():
    with tempfile.TemporaryDirectory() as folder:
        saved_over("File too large", folder, preexec_fn=limit_sizes)


SMALL = "GENERATE g AS path(3);"
TEXT = "src,dst\n0,1\n1,2\n"


def save_keeps_what_the_path_is():
    """Permissions stay, links are followed, pipes and devices are written to and not replaced."""
    with tempfile.TemporaryDirectory() as folder:
        def at(name):
            return os.path.join(folder, name)
        open(at("file.csv"), "w", encoding="ascii").close()
        os.chmod(at("file.csv"), 0o640)
        os.symlink("file.csv", at("link.csv"))
        LACIS.good(f"{SMALL} SAVE g TO 'link.csv';", folder=folder)
        assert os.path.islink(at("link.csv")) and open(at("file.csv"), encoding="ascii").read() == TEXT
        assert stat.S_IMODE(os.stat(at("file.csv")).st_mode) == 0o640
        os.mkfifo(at("pipe"))
        got = []
        reader = threading.Thread(target=lambda: got.append(open(at("pipe"), encoding="ascii").read()))
        reader.start()
        LACIS.good(f"{SMALL} SAVE g TO 'pipe' AS csv;", folder=folder)
        reader.join(30)
        assert got == [TEXT] and stat.S_ISFIFO(os.stat(at("pipe")).st_mode), got
        with open(at("all.txt"), "w", encoding="ascii") as out:
            subprocess.run([LACIS.path, "-c", f"{SMALL} SELECT 1 AS a; SAVE g TO '/dev/stdout' AS csv; SELECT 2 AS b"],
                           stdout=out, stderr=subprocess.DEVNULL, check=True)
        assert open(at("all.txt"), encoding="ascii").read() == "a\n1\n" + TEXT + "b\n2\n"
        if os.getuid() == 0:
            os.mknod(at("null"), 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            LACIS.good(f"{SMALL} SAVE g TO 'null' AS csv;", folder=folder)
            assert stat.S_ISCHR(os.stat(at("null")).st_mode)


def refused_paths():
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        lacis = LACIS.copied(other)
        os.chmod(folder, 0o777)
        os.mkdir(os.path.join(folder, "d.csv"))
        LACIS.bad("Is a directory", f"{SMALL} SAVE g TO 'd.csv';", folder=folder)
        LACIS.bad("No such file", f"{SMALL} SAVE g TO 'no/x.csv';", folder=folder)
        path = os.path.join(folder, "mine.csv")
        open(path, "w", encoding="ascii").close()
        os.chmod(path, 0o444)
        lacis.bad("Permission denied", f"{SMALL} SAVE g TO 'mine.csv';", folder=folder, preexec_fn=plain_user)
        os.chmod(path, 0o000)
        lacis.bad("Permission denied", "LOAD g FROM 'mine.csv';", folder=folder, preexec_fn=plain_user)
        assert sorted(os.listdir(folder)) == ["d.csv", "mine.csv"]


def read_only_database():
    """Reading goes on, writing says why not."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        lacis = LACIS.copied(other)
        make_database(folder)
        os.chmod(os.path.join(folder, "d.lacis"), 0o444)
        os.chmod(folder, 0o555)
        rows = lacis.good(KEPT + ";", "d.lacis", folder=folder, preexec_fn=plain_user)
        assert rows[1] == ["999"], rows
        lacis.bad("read-only", SMALL, "d.lacis", folder=folder, preexec_fn=plain_user)
        code, _, err = lacis.run(SMALL, "new.lacis", folder=folder, preexec_fn=plain_user)
        assert code == 3 and "Permission denied" in err, (code, err)
        os.chmod(folder, 0o755)
        check_database(folder)


if __name__ == "__main__":
    sys.exit(run_all([file_size_limit, loading_with_a_limit, small_file_system, save_with_a_limit,
                      save_keeps_what_the_path_is, refused_paths, read_only_database]))
