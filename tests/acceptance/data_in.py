#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LOAD and SAVE as statements: every option with each of its values, formats by content and by AS, what texts may look
like, round trips, and odd names in every statement. Cases are data.   data_in.py LACIS"""
import gzip
import os
import sys
import tempfile

from program import Program, run_all

LACIS = Program(sys.argv[1])
PLAIN = "1 2 5\n1 3 1\n1 2 7\n2 1 4\n"

# text of the file, what stands behind FROM, the rows that SELECT * gives
OPTIONS = (
    (PLAIN, "", "1,2,12 1,3,1 2,1,4"),
    (PLAIN, "WITH (directed = true)", "1,2,12 1,3,1 2,1,4"),
    (PLAIN, "WITH (directed = false)", "1,2,16 1,3,1 2,1,16 3,1,1"),
    (PLAIN, "WITH (directed = off)", "1,2,16 1,3,1 2,1,16 3,1,1"),
    (PLAIN, "WITH (duplicates = 'sum')", "1,2,12 1,3,1 2,1,4"),
    (PLAIN, "WITH (duplicates = 'min')", "1,2,5 1,3,1 2,1,4"),
    (PLAIN, "WITH (duplicates = 'MAX')", "1,2,7 1,3,1 2,1,4"),
    (PLAIN, "WITH (duplicates = 'first')", "1,2,5 1,3,1 2,1,4"),
    (PLAIN, "WITH (duplicates = last)", "1,2,7 1,3,1 2,1,4"),
    (PLAIN, "WITH (duplicates = 'count')", "1,2,2 1,3,1 2,1,1"),
    (PLAIN, "WITH (columns = 'dst,src,value')", "1,2,4 2,1,12 3,1,1"),
    (PLAIN, "WITH (columns = 'src,value,dst', duplicates = 'last')", "1,1,3 1,5,2 1,7,2 2,4,1"),
    (PLAIN, "WITH (columns = 'src,dst,-')", "1,2,1 1,3,1 2,1,1"),
    (PLAIN, "WITH (columns = 'src,dst')", "1,2,1 1,3,1 2,1,1"),
    (PLAIN, "WITH (type = 'pattern')", "1,2,1 1,3,1 2,1,1"),
    (PLAIN, "WITH (type = 'f64')", "1,2,12.0 1,3,1.0 2,1,4.0"),
    (PLAIN, "WITH (base = 1)", "1,2,12 1,3,1 2,1,4"),
    (PLAIN, "WITH (base = 0, header = false, delimiter = ' ')", "1,2,12 1,3,1 2,1,4"),
    (PLAIN, "AS snap WITH (delimiter = 'space')", "1,2,12 1,3,1 2,1,4"),
    ("1\t2\n", "WITH (delimiter = 'tab')", "1,2,1"),
    ("1,2\n", "WITH (delimiter = ',')", "1,2,1"),
    ("1;2\n", "WITH (delimiter = ';')", "1,2,1"),
    ("9 9\n1 2\n", "WITH (header = true)", "1,2,1"),
    ("a b\n1 2\n", "", "1,2,1"),
    ("1 2 1082040961\n3 1 1082155839\n", "", "1,2,1 3,1,1"),
    ("1 2 1082040961\n3 1 1082155839\n", "WITH (columns = 'src,dst,time')", "1,2,1 3,1,1"),
    ("1 2 1082040961\n3 1 1082155839\n", "WITH (columns = 'src,dst,value')", "1,2,1082040961 3,1,1082155839"),
    ("-9223372036854775808 9223372036854775807\n", "", "-9223372036854775808,9223372036854775807,1"),
    ("18014398509481985 7\n7 18014398509481985\n7 7\n", "", "7,7,1 7,18014398509481985,1 18014398509481985,7,1"),
    ("\ufeff# c\r\n1 2 \t\r\n\r\n% c\r\n// c\r\n1  3\t", "", "1,2,1 1,3,1"),
)

REFUSED = (  # text, what stands behind FROM, part of the message
    (PLAIN, "WITH (duplicates = 'error')", "e.txt:3:1: '1 2 7' gives an edge for the second time"),
    (PLAIN, "WITH (direct = true)", "hint: did you mean directed?"),
    (PLAIN, "WITH (directed = 2)", "directed takes true or false"),
    (PLAIN, "WITH (base = 2)", "base = 2 is neither 0 nor 1"),
    (PLAIN, "WITH (base = 0.5)", "base takes a whole number"),
    (PLAIN, "WITH (duplicates = 'avg')", "duplicates takes sum|min|max|first|last|count|error"),
    (PLAIN, "WITH (delimiter = '')", "is not one character"),
    (PLAIN, "WITH (columns = 'src,src')", "names no dst"),
    (PLAIN, "WITH (base = 1, base = 1)", "base is given twice"),
    (PLAIN, "AS snp", "hint: did you mean AS snap?"),
    (PLAIN, "AS mtx", "no MatrixMarket banner"),
    (PLAIN, "AS npy", "no .npy file"),
    ("0 1\n", "WITH (base = 1)", "outside what base = 1 allows"),
    ("1 2\n3\n", "", "e.txt:2:2: 1 field(s) where 2 are expected"),
    ("1 99999999999999999999\n2 3\n", "WITH (header = false)", "e.txt:1:3: '99999999999999999999' is not an integer id"),
)

CONTENTS = (  # texts whose name says nothing, and their rows
    ("%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 3\n2 1 4\n", "1,1,3 1,2,4 2,1,4"),
    ("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 4.5\n", "1,2,-4.5 2,1,4.5"),
    ("%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 1 4 5\n", "1,2,4.0,-5.0 2,1,4.0,5.0"),
    ("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n", "2,1,1"),
    ("%%MatrixMarket matrix array real general\n2 1\n4.5\n-1\n", "1,1,4.5 2,1,-1.0"),
    ("p sp 3 2\na 1 2 9\na 2 3 8\n", "1,2,9 2,3,8"),
    ("% c\n3 2\n2 \n1 3\n2\n", "1,2,1 2,1,1 2,3,1 3,2,1"),
    ("AdjacencyGraph\n2\n2\n0\n1\n1\n0\n", "0,1,1 1,0,1"),
    ("src,dst,value\n1,2,0.5\n", "1,2,0.5"),
    ('{"src":1,"dst":2,"value":7}\n', "1,2,7"),
    ("i,value\n3,0.5\n5,0.25\n", "3,0.5 5,0.25"),
    ("z y x m id\n3 2 1 9 7\n", "7,9.0,1.0,2.0,3.0,0.0,0.0,0.0"),
    ("# m;x;y;eps\n9;1;2;0.5\n", "0,9.0,1.0,2.0,0.0,0.0,0.0,0.0,0.5"),
    ("1\n2.5e3\n1 2 3 4 9 earth.gif\n", "0,9.0,1.0,2.0,0.0,3.0,4.0,0.0"),
    ('{"m":9,"x":1,"y":2}\n', "0,9.0,1.0,2.0,0.0,0.0,0.0,0.0"),
)

# values that SAVE must bring back, and the endings that can hold them
VALUES = (
    ("integers", "(1, 2, 9223372036854775807), (2, 1, -9223372036854775808), (2, 2, 0)", "mtx txt csv jsonl"),
    ("reals", "(1, 2, 0.1), (2, 1, 1e-320), (2, 2, 1.7976931348623157e308), (1, 1, -0.30000000000000004)",
     "mtx txt csv jsonl"),
    ("no numbers", "(1, 2, 9e999), (2, 1, -9e999), (2, 2, 1.5)", "mtx txt csv jsonl"),
)

NAMES = ("a b", "select", "a\"b", "c'd", "; DROP x", "%s%n", "é😀", "by", "a\tb", "x" * 200, "1st", "-- c", "temp", "a.b",
         "(", "mtx", ":p", "?1", "rowid", "src")


def in_folder(fn):
    with tempfile.TemporaryDirectory() as folder:
        return fn(folder)


def put(folder, text, name="e.txt"):
    with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as file:
        file.write(text)


def rows_of(folder, how, file="e.txt"):
    rows = LACIS.good(f"LOAD g FROM '{file}' {how}; SELECT * FROM g ORDER BY 1, 2;", folder=folder)
    return " ".join(",".join(row) for row in rows[1:])


def options_of_edge_lists():
    def test(folder):
        for text, how, expected in OPTIONS:
            put(folder, text)
            found = rows_of(folder, how)
            assert found == expected, f"{text!r} {how}: {found}, not {expected}"
            with gzip.open(os.path.join(folder, "e.gz"), "wb") as file:
                file.write(text.encode())
            assert rows_of(folder, how, "e.gz") == expected, f"{text!r} {how}: not so from gzip"
        for text, how, part in REFUSED:
            put(folder, text)
            LACIS.bad(part, f"LOAD g FROM 'e.txt' {how};", folder=folder)
    in_folder(test)


def formats_by_content():
    def test(folder):
        for text, expected in CONTENTS:
            put(folder, text, "data")
            found = rows_of(folder, "", "data")
            assert found == expected, f"{text!r}: {found}, not {expected}"
        put(folder, "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 4\n", "data")
        found = rows_of(folder, "AS snap WITH (header = false)", "data")  # the banner is a comment then
        assert found == "1,2,4 2,2,1", found
    in_folder(test)


def values_come_back():
    def test(folder):
        for what, values, endings in VALUES:
            make = f"LET g = WITH v(src, dst, value) AS (VALUES {values}) SELECT * FROM v;"
            for ending in endings.split():
                rows = LACIS.good(f"{make} SAVE g TO 'o.{ending}'; LOAD h FROM 'o.{ending}';"
                                  "SELECT count(*), sum(g.value = h.value) FROM g JOIN h USING (src, dst);"
                                  "SELECT (SELECT count(*) FROM g), (SELECT count(*) FROM h);"
                                  "SELECT group_concat(DISTINCT typeof(g.value) || typeof(h.value)) FROM g JOIN h USING"
                                  " (src, dst);", folder=folder)
                count = str(values.count("("))
                assert rows[1] == [count, count] and rows[3] == [count, count], f"{what} as {ending}: {rows}"
                assert rows[5][0] in ("integerinteger", "realreal"), f"{what} as {ending}: {rows[5]}"
        rows = LACIS.good("LET v = WITH v(i, value) AS (VALUES (0, 0.1), (1, 1e-320), (2, -3e300)) SELECT * FROM v;"
                          "SAVE v TO 'v.npy'; LOAD u FROM 'v.npy'; SELECT count(*) FROM u JOIN v USING (i, value);"
                          "SAVE v TO 'v.csv'; LOAD u FROM 'v.csv'; SELECT count(*) FROM u JOIN v USING (i, value);"
                          "SAVE v TO 'v.jsonl'; LOAD u FROM 'v.jsonl'; SELECT count(*) FROM u JOIN v USING (i, value);",
                          folder=folder)
        assert rows[1] == rows[3] == rows[5] == ["3"], rows
    in_folder(test)


def bodies_come_back():
    """With ids in any order, softening lengths, accelerations and potentials."""
    def test(folder):
        make = ("LET b = SELECT column1 AS id, column2 AS m, column3 AS x, 0.1 AS y, -1e300 AS z, 0.3 AS eps, 1 AS ax, 2 AS ay,"
                " 3e-320 AS az, -4 AS phi FROM (VALUES (9223372036854775807, 0.1, 1e-320), (-5, 0, -0.30000000000000004),"
                " (7, 1.7976931348623157e308, 2));")
        for ending in ("npy", "csv", "jsonl"):
            rows = LACIS.good(f"{make} SAVE b TO 'b.{ending}'; DROP b; LOAD c FROM 'b.{ending}'; SHOW ARRAYS;",
                              folder=folder)
            assert rows[1][:2] == ["c", "bodies"], f"{ending}: {rows}"
            rows = LACIS.good(f"{make} LOAD c FROM 'b.{ending}'; SELECT count(*) FROM c;"
                              "SELECT count(*) FROM (SELECT * FROM b EXCEPT SELECT * FROM c);", folder=folder)
            assert rows[1] == ["3"] and rows[3] == ["0"], f"{ending}: {rows}"
        make = make.replace("-1e300", "-1e30").replace("1.7976931348623157e308", "1e38")
        rows = LACIS.good(f"{make} LET f = b AS f32; SAVE f TO 'f.tipsy'; LOAD g FROM 'f.tipsy';"
                          "SELECT count(*) FROM f JOIN g USING (m, x, y, z, vx, vy, vz, eps);", folder=folder)
        assert rows[1] == ["3"], rows
        LACIS.bad("tipsy's floats cannot hold", f"{make.replace('1e38', '1e39')} SAVE b TO 'b.tipsy';", folder=folder)
    in_folder(test)


def odd_names():
    """In each statement that takes a name, and after reopening."""
    def test(folder):
        for name in NAMES:
            quoted = '"' + name.replace('"', '""') + '"'
            view = '"' + name[:190].replace('"', '""') + ' v"'
            put(folder, "1 2\n2 3\n3 1\n")
            LACIS.good(f"GENERATE {quoted} AS path(3); LOAD {quoted} FROM 'e.txt';"
                       f"CREATE VIEW {view} AS MULTIPLY {quoted} BY {quoted} MASK NOT {quoted};", "d.lacis",
                       folder=folder)
            rows = LACIS.good(f"SELECT * FROM {quoted}; SELECT count(*) FROM {view} WHERE src = 1;"
                              f"MULTIPLY {quoted} BY {view}; LET {quoted} = MULTIPLY {quoted} BY {quoted};"
                              f"SAVE {view} TO 'o.csv'; SHOW ARRAYS; EXPLAIN MULTIPLY {quoted} BY {quoted};", "d.lacis",
                              folder=folder)
            assert rows[1:4] == [["1", "2", "1"], ["2", "3", "1"], ["3", "1", "1"]] and rows[5] == ["1"], (name, rows)
            LACIS.good(f"BEGIN; DROP {view}; ROLLBACK; DROP {view}; DROP {quoted}; DROP IF EXISTS {quoted};", "d.lacis",
                       folder=folder)
            rows = LACIS.good("SHOW ARRAYS; SELECT count(*) FROM lacis_chunk;", "d.lacis", folder=folder)
            assert len(rows) == 3 and rows[2] == ["0"], (name, rows)
        LACIS.bad("the name is longer than 200 bytes", f"GENERATE {'x' * 201} AS path(3);", folder=folder)
        LACIS.bad("the name is longer than 200 bytes", f"GENERATE {'x' * 1000000} AS path(3);", folder=folder)
        for name in ("lacis_a", "SQLITE_a"):
            LACIS.bad("are reserved", f"GENERATE {name} AS path(3);", folder=folder)
        LACIS.bad("expected a name", 'GENERATE "" AS path(3);', folder=folder)
    in_folder(test)


def sql_keeps_off():
    """SQL cannot break what the database is made of, nor hide an array."""
    def test(folder):
        LACIS.good("GENERATE g AS path(5); CREATE TABLE t(x);", "d.lacis", folder=folder)
        for sql in ("DROP TABLE lacis_array", "DELETE FROM lacis_chunk", "UPDATE lacis_array SET rows = 1",
                    "INSERT INTO lacis_kept VALUES (1, 2, 3)", "CREATE INDEX i ON lacis_chunk(crc)",
                    "ALTER TABLE lacis_part ADD COLUMN x", "CREATE TABLE lacis_new(x)", "PRAGMA user_version = 3",
                    "PRAGMA temp.user_version = 3", "PRAGMA application_id = 3",
                    "CREATE TRIGGER z AFTER INSERT ON lacis_array BEGIN SELECT 1; END"):
            LACIS.bad("belongs to the database itself", sql + ";", "d.lacis", folder=folder)
        for sql in ("CREATE TABLE g(x)", "CREATE TEMP TABLE g(x)", "CREATE VIEW g AS SELECT 1"):
            LACIS.bad("is there already", sql + ";", "d.lacis", folder=folder)
        for sql in ("DELETE FROM g", "INSERT INTO g VALUES (1, 2, 3)", "UPDATE g SET dst = 1"):
            LACIS.bad("may not be modified", sql + ";", "d.lacis", folder=folder)
        LACIS.bad("may not be modified", "PRAGMA writable_schema = on; DELETE FROM sqlite_master;", "d.lacis",
                  folder=folder)
        rows = LACIS.good("PRAGMA journal_mode = off; VACUUM; SELECT count(*) FROM g; PRAGMA integrity_check;",
                          "d.lacis", folder=folder)
        assert rows[1] == ["delete"] and rows[3] == ["4"] and rows[5] == ["ok"], rows
        LACIS.bad("hint: it is a table of SQL", "DROP t;", "d.lacis", folder=folder)
        LACIS.bad("an SQL table is called t", "GENERATE t AS path(3);", "d.lacis", folder=folder)
        rows = LACIS.good("BEGIN; DROP TABLE g; ROLLBACK; SELECT count(*) FROM g; DROP TABLE g; SHOW ARRAYS;",
                          "d.lacis", folder=folder)
        assert rows[1] == ["4"] and len(rows) == 3, rows
    in_folder(test)


if __name__ == "__main__":
    sys.exit(run_all([options_of_edge_lists, formats_by_content, values_come_back, bodies_come_back, odd_names,
                      sql_keeps_off]))
