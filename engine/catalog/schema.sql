-- SPDX-License-Identifier: Apache-2.0
-- The tables of a lacis database. application_id ("LACI") and user_version (the format's number) say what the file is;
-- catalog.c compares both before it reads anything else. Run once, inside the transaction that makes a new file.

PRAGMA application_id = 1279345481;
PRAGMA user_version = 1;

-- One row an array. kind: csr, vector, table, interleaved, symmetric, bodies; dtype: what values mean. For vectors,
-- tables and bodies cols is 0.
CREATE TABLE lacis_array (
    id       INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice, so other processes notice a replaced array
    name     TEXT NOT NULL UNIQUE COLLATE NOCASE,
    kind     TEXT NOT NULL,
    dtype    TEXT NOT NULL,
    rows     INTEGER NOT NULL,
    cols     INTEGER NOT NULL,
    row_base INTEGER NOT NULL,
    col_base INTEGER NOT NULL,
    entries  INTEGER NOT NULL,
    bytes    INTEGER NOT NULL
);

-- One row a part, in the array's order. dtype: how its elements are stored.
CREATE TABLE lacis_part (
    array_id INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    name     TEXT NOT NULL,
    dtype    TEXT NOT NULL,
    count    INTEGER NOT NULL,
    PRIMARY KEY (array_id, seq)
) WITHOUT ROWID;

-- The bytes of a part, little-endian, in chunks of 4 MiB (the last one shorter). crc: CRC-32 of the chunk.
CREATE TABLE lacis_chunk (
    array_id INTEGER NOT NULL,
    part     INTEGER NOT NULL, -- lacis_part.seq
    seq      INTEGER NOT NULL,
    crc      INTEGER NOT NULL,
    bytes    BLOB NOT NULL,
    UNIQUE (array_id, part, seq)
);

-- Lazy views: the call, and the columns it had when it was made: keys, value column, then a line for each column, its
-- first letter I or R (INTEGER, REAL) and its name.
CREATE TABLE lacis_view (
    name   TEXT PRIMARY KEY COLLATE NOCASE,
    text   TEXT NOT NULL,
    layout TEXT NOT NULL
) WITHOUT ROWID;

-- Options, the machine's profile and other named texts.
CREATE TABLE lacis_kept (
    grp   TEXT NOT NULL,
    name  TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (grp, name)
) WITHOUT ROWID;
