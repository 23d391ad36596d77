#!/usr/bin/env python3
"""SQLite under power cuts: sqlite.py delete|wal [EXTRA|FULL|NORMAL|OFF] [ROWS]

Each committed row is acknowledged; after a cut each acknowledged row must be there, and the
database must be sound. In mode delete, only EXTRA syncs the directory after a commit: with FULL the
last row may come back undone, as SQLite's documentation of "PRAGMA synchronous" says.
"""
import os
import sqlite3
import sys

journal = sys.argv[1] if len(sys.argv) > 1 else "delete"
synchronous = sys.argv[2] if len(sys.argv) > 2 else "FULL"
rows = int(sys.argv[3]) if len(sys.argv) > 3 else 200
path = os.path.join(os.environ["STRADDLE_DIR"], "test.db")


def opened():
    database = sqlite3.connect(path, isolation_level=None)
    database.execute(f"PRAGMA journal_mode={journal}")
    database.execute(f"PRAGMA synchronous={synchronous}")
    return database


def setup():
    opened().execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
    os.sync()


def run():
    database = opened()
    for row in range(rows):
        database.execute("INSERT INTO t VALUES (?, ?)", (row, f"row {row} " * 60))
        print(row, flush=True)


def check():
    acknowledged = [int(line) for line in sys.stdin]
    database = opened()
    sound = database.execute("PRAGMA integrity_check").fetchone()[0]
    if sound != "ok":
        sys.exit(f"damaged: {sound[:100]}")
    held = dict(database.execute("SELECT id, text FROM t"))
    lost = [row for row in acknowledged if held.get(row) != f"row {row} " * 60]
    if lost:
        sys.exit(f"{len(lost)} of {len(acknowledged)} acknowledged rows are lost, first {lost[0]}")


try:
    {"setup": setup, "run": run, "check": check}[os.environ["STRADDLE_PHASE"]]()
except sqlite3.Error as error:
    sys.exit(f"damaged: {error}")
