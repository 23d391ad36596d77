#!/usr/bin/env python3
"""A file system under power cuts: files.py [COUNT] [no-fsync]

Each file is written under another name, synced, renamed, and its directory synced; then it is
acknowledged. After a cut each acknowledged file must be there, whole.
"""
import os
import sys

count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
is_synced = "no-fsync" not in sys.argv
place = os.environ["STRADDLE_DIR"]


def content(number):
    return f"file {number}\n".encode() * (200 + number % 700)


def synced(path, flags):
    if is_synced:
        descriptor = os.open(path, flags)
        os.fsync(descriptor)
        os.close(descriptor)


def setup():
    os.mkdir(os.path.join(place, "files"))
    os.sync()


def run():
    directory = os.path.join(place, "files")
    for number in range(count):
        new, path = os.path.join(directory, "new"), os.path.join(directory, str(number))
        with open(new, "wb") as file:
            file.write(content(number))
        synced(new, os.O_RDWR)
        os.rename(new, path)
        synced(directory, os.O_RDONLY)
        print(number, flush=True)


def check():
    for line in sys.stdin:
        number = int(line)
        try:
            with open(os.path.join(place, "files", str(number)), "rb") as file:
                held = file.read()
        except OSError as error:
            sys.exit(f"acknowledged file {number} is lost: {error.strerror}")
        if held != content(number):
            sys.exit(f"acknowledged file {number} is damaged: {len(held)} bytes")


{"setup": setup, "run": run, "check": check}[os.environ["STRADDLE_PHASE"]]()
