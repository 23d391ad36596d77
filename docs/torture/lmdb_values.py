#!/usr/bin/env python3
"""LMDB under power cuts: lmdb_values.py [sync|nometasync|nosync] [TRANSACTIONS]

Each committed transaction is acknowledged; after a cut each acknowledged value must be there.
"""
import os
import sys

import lmdb

mode = sys.argv[1] if len(sys.argv) > 1 else "sync"
count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
path = os.path.join(os.environ["STRADDLE_DIR"], "lmdb")
options = {"sync": {}, "nometasync": {"metasync": False}, "nosync": {"sync": False}}[mode]


def opened():
    return lmdb.open(path, map_size=64 << 20, **options)


def value(number):
    return f"value {number} ".encode() * 60


def setup():
    opened().close()
    os.sync()


def run():
    environment = opened()
    for number in range(count):
        with environment.begin(write=True) as transaction:
            transaction.put(str(number).encode(), value(number))
        print(number, flush=True)


def check():
    acknowledged = [int(line) for line in sys.stdin]
    with opened().begin() as transaction:
        held = dict(transaction.cursor())
    lost = [number for number in acknowledged if held.get(str(number).encode()) != value(number)]
    if lost:
        sys.exit(f"{len(lost)} of {len(acknowledged)} acknowledged values are lost, first {lost[0]}")


try:
    {"setup": setup, "run": run, "check": check}[os.environ["STRADDLE_PHASE"]]()
except lmdb.Error as error:
    sys.exit(f"damaged: {error}")
