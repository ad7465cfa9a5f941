#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Arrow's C data interface with programs that others wrote: pyarrow, and duckdb where it is there, read what lacis exports
and hand theirs to lacis, through ctypes on the shared library.

    arrow.py LIBLACIS.SO

The Python named in LACIS_ARROW_PYTHON (of a virtual environment, say), else this one, must have pyarrow; without it the
test is skipped (77).   python3 -m venv v && v/bin/pip install pyarrow duckdb && LACIS_ARROW_PYTHON=v/bin/python ctest -R arrow
"""
import ctypes
import gc
import os
import sys

PYTHON = os.environ.get("LACIS_ARROW_PYTHON")
if PYTHON and os.path.realpath(sys.prefix) != os.path.realpath(os.path.join(os.path.dirname(PYTHON), "..")):
    os.execv(PYTHON, [PYTHON, *sys.argv])
try:
    import pyarrow
except ImportError:
    print("skipped: this Python has no pyarrow; name one that has in LACIS_ARROW_PYTHON")
    sys.exit(77)
try:
    import duckdb
except ImportError:
    duckdb = None

LIB = ctypes.CDLL(sys.argv[1])
HANDLE = ctypes.c_void_p
LIB.lacis_array_find.argtypes = [HANDLE, ctypes.c_char_p, ctypes.POINTER(HANDLE)]
LIB.lacis_array_release.argtypes = [HANDLE]
LIB.lacis_array_export_arrow.argtypes = [HANDLE] * 4
LIB.lacis_array_import_arrow.argtypes = [HANDLE, ctypes.c_char_p, HANDLE, HANDLE]
LIB.lacis_prepare.argtypes = [HANDLE, ctypes.c_char_p, HANDLE, ctypes.POINTER(HANDLE)]
LIB.lacis_statement_export_arrow.argtypes = [HANDLE] * 2
LIB.lacis_exec.argtypes = [HANDLE, ctypes.c_char_p, HANDLE, HANDLE]
LIB.lacis_error_message.argtypes = [HANDLE]
LIB.lacis_error_message.restype = ctypes.c_char_p
LIB.lacis_memory_usage.argtypes = [HANDLE, ctypes.POINTER(ctypes.c_uint64), HANDLE, ctypes.c_int]
LIB.lacis_close.argtypes = [HANDLE]


class Schema(ctypes.Structure):  # its size alone matters: nine words
    _fields_ = [("words", ctypes.c_int64 * 9)]


class Array(ctypes.Structure):
    _fields_ = [("words", ctypes.c_int64 * 10)]


class Stream(ctypes.Structure):
    _fields_ = [("words", ctypes.c_int64 * 5)]


class Engine:
    def __init__(self):
        self.handle = HANDLE()
        assert LIB.lacis_open(None, ctypes.byref(self.handle)) == 0

    def check(self, status):
        if status != 0:
            raise RuntimeError(LIB.lacis_error_message(self.handle).decode())

    def run(self, text):
        self.check(LIB.lacis_exec(self.handle, text.encode(), None, None))

    def memory(self):
        gc.collect()
        now = ctypes.c_uint64()
        LIB.lacis_memory_usage(self.handle, ctypes.byref(now), None, 0)
        return now.value

    def get(self, name, how):
        """What the pyarrow class `how` makes of the array."""
        found, schema, array = HANDLE(), Schema(), Array()
        self.check(LIB.lacis_array_find(self.handle, name.encode(), ctypes.byref(found)))
        status = LIB.lacis_array_export_arrow(self.handle, found, ctypes.byref(schema), ctypes.byref(array))
        LIB.lacis_array_release(found)
        self.check(status)
        return how._import_from_c(ctypes.addressof(array), ctypes.addressof(schema))

    def query(self, text):
        """The rows of a statement as a pyarrow.RecordBatchReader."""
        statement, stream = HANDLE(), Stream()
        self.check(LIB.lacis_prepare(self.handle, text.encode(), None, ctypes.byref(statement)))
        self.check(LIB.lacis_statement_export_arrow(statement, ctypes.byref(stream)))
        return pyarrow.RecordBatchReader._import_from_c(ctypes.addressof(stream))

    def put(self, name, data):
        schema, array = Schema(), Array()
        data._export_to_c(ctypes.addressof(array), ctypes.addressof(schema))
        self.check(LIB.lacis_array_import_arrow(self.handle, name.encode(), ctypes.byref(schema), ctypes.byref(array)))

    def close(self):
        LIB.lacis_close(self.handle)


def reads_tables(engine):
    engine.run("LET t = WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
               "SELECT i, i * 0.5 AS half FROM n;")
    batch = engine.get("t", pyarrow.RecordBatch)
    batch.validate(full=True)
    assert batch.schema.names == ["i", "half"] and batch.num_rows == 1000
    assert batch.column("i").to_pylist() == list(range(1, 1001))
    assert sum(batch.column("half").to_pylist()) == 250250.0
    assert batch.schema.metadata[b"lacis.kind"] == b"table"
    if duckdb is not None:
        with duckdb.connect() as other:
            other.register("t", pyarrow.Table.from_batches([batch]))
            assert other.execute("SELECT sum(i), max(half) FROM t").fetchall() == [(500500, 500.0)]


def reads_vectors(engine):
    engine.run("GENERATE x AS random(n = 100, seed = 4); LET y = SELECT i, value FROM x;")
    values = engine.get("x", pyarrow.Array)
    values.validate(full=True)
    assert values.type == pyarrow.float64() and len(values) == 100
    engine.run("GENERATE a AS symmetric(4, type = 'c128', seed = 2); GENERATE v AS random(n = 4, type = 'c128');"
               "LET p = SYMV a BY v;")
    pairs = engine.get("p", pyarrow.Array)
    pairs.validate(full=True)
    assert pairs.type.list_size == 2 and len(pairs) == 4 and pairs.type.value_type == pyarrow.float64()


def reads_bodies_and_grids(engine):
    engine.run("GENERATE b AS plummer(n = 64, seed = 1); GENERATE g AS noise(7, 5);")
    bodies = engine.get("b", pyarrow.RecordBatch)
    bodies.validate(full=True)
    assert bodies.num_rows == 64 and {"m", "x", "y", "z"} <= set(bodies.schema.names)
    grid = engine.get("g", pyarrow.RecordBatch)
    grid.validate(full=True)
    assert grid.num_rows == 35 and grid.schema.metadata[b"lacis.shape"] == b"7,5"


def keeps_what_is_held(engine):
    engine.run("LET t = SELECT 1 AS one, 2.5 AS two;")
    column = engine.get("t", pyarrow.RecordBatch).column("two")  # its parent goes
    engine.run("DROP t;")
    gc.collect()
    assert column.to_pylist() == [2.5]


def takes_theirs(engine):
    batch = pyarrow.record_batch({"k": pyarrow.array(range(10), pyarrow.int32()),
                                  "z": pyarrow.array([[float(i), -float(i)] for i in range(10)],
                                                     pyarrow.list_(pyarrow.float32(), 2))}).slice(3, 4)
    engine.put("k", batch)
    engine.put("v", pyarrow.array([0.5, 1.5, 2.5, 3.5]).slice(1, 3))
    del batch
    gc.collect()
    engine.run("LET s = SELECT k.k AS k FROM k; LET w = SELECT sum(value) AS s FROM v;")
    back = engine.get("s", pyarrow.RecordBatch)
    assert back.column("k").to_pylist() == [3, 4, 5, 6]
    assert engine.get("k", pyarrow.RecordBatch).column("z").to_pylist() == [[float(i), -float(i)] for i in range(3, 7)]
    assert engine.get("w", pyarrow.RecordBatch).column("s").to_pylist() == [7.5]
    try:
        engine.put("bad", pyarrow.array([1.5, None]))
    except RuntimeError as error:
        assert "has nulls" in str(error), error
    else:
        raise AssertionError("nulls went through")
    used = pyarrow.total_allocated_bytes()
    engine.run("DROP k; DROP v;")
    gc.collect()
    assert pyarrow.total_allocated_bytes() < used, "what lacis took was not released"


def streams_rows(engine):
    numbers = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 199999) "
    table = engine.query(numbers + "SELECT i, i * 0.25 AS q, CASE WHEN i % 3 THEN 'n' || i END AS t FROM n").read_all()
    table.validate(full=True)
    assert table.num_rows == 200000 and table.column("t").null_count == 66667
    assert table.column("t")[199999].as_py() == "n199999" and table.column("q")[199999].as_py() == 49999.75
    if duckdb is not None:
        with duckdb.connect() as other:
            other.register("t", table)
            assert other.execute("SELECT sum(i), count(t), max(q) FROM t").fetchall() == [(19999900000, 133333, 49999.75)]
    reader = engine.query(numbers + "SELECT CASE WHEN i < 150000 THEN i ELSE 'x' END AS a FROM n")
    try:
        reader.read_all()
    except OSError as error:
        assert "texts among its integers" in str(error), error
    else:
        raise AssertionError("a text went through as an integer")
    reader.close()


def leaves_nothing(engine):
    engine.run("LET t = SELECT 1 AS one, 2.5 AS two;")
    before = engine.memory()
    batches = [engine.get("t", pyarrow.RecordBatch) for _ in range(100)]
    assert engine.memory() > before
    del batches
    assert engine.memory() == before


def main():
    cases = [reads_tables, reads_vectors, reads_bodies_and_grids, keeps_what_is_held, takes_theirs, streams_rows,
             leaves_nothing]
    for case in cases:
        engine = Engine()
        case(engine)
        engine.close()
        print("ok", case.__name__)
    print(f"pyarrow {pyarrow.__version__}, duckdb {duckdb.__version__ if duckdb else 'is not here'}")


if __name__ == "__main__":
    main()
