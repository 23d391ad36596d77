#!/usr/bin/env python3
"""Disks as small files, and a whole result as one.

A packed disk is what crates/device/src/pack.rs reads: the disk's length in bytes (64 bits), then records
of a sector's number (64 bits), how many sectors follow (16 bits), and those; sectors have 512 bytes,
numbers are little-endian, and what no record holds is zeros.

    guest/sectors.py unpack PACK DISK      the disk again, sparse
    guest/sectors.py sample RESULT FILE    what tests need of a result, as one compressed JSON file:
                                           {"files": {path: text}, "disks": {name: pack as hexadecimal}}
"""
import gzip
import json
import os
import struct
import sys

SECTOR = 512
PIECE = 1 << 20
RECORD_MAX = 0xFFFF


def pack(disk, path):
    length = os.path.getsize(disk)
    with open(disk, "rb") as source, open(path, "wb") as target:
        target.write(packed(length, sectors_of(source, length)))


def sectors_of(source, length):
    """Number and bytes of each sector that is not zero; holes of a sparse file are not read."""
    at = 0
    while at < length:
        try:
            at = os.lseek(source.fileno(), at, os.SEEK_DATA)
        except OSError:
            return
        at -= at % SECTOR
        piece = os.pread(source.fileno(), min(PIECE, length - at), at)
        for start in range(0, len(piece), SECTOR):
            sector = piece[start:start + SECTOR]
            if sector.strip(b"\0"):
                yield (at + start) // SECTOR, sector.ljust(SECTOR, b"\0")
        at += len(piece)


def packed(length, sectors):
    out, record, first = [struct.pack("<Q", length)], [], 0
    for number, sector in sectors:
        if record and (number != first + len(record) or len(record) == RECORD_MAX):
            out += [struct.pack("<QH", first, len(record)), *record]
            record = []
        first = first if record else number
        record.append(sector)
    if record:
        out += [struct.pack("<QH", first, len(record)), *record]
    return b"".join(out)


def unpacked(content):
    """The disk's length, and its sectors by number."""
    length, at, sectors = struct.unpack_from("<Q", content)[0], 8, {}
    while at < len(content):
        first, count = struct.unpack_from("<QH", content, at)
        at += 10
        for number in range(first, first + count):
            sectors[number] = content[at:at + SECTOR]
            at += SECTOR
    return length, sectors


def unpack(path, disk):
    with open(path, "rb") as source, open(disk, "wb") as target:
        length, sectors = unpacked(source.read())
        target.truncate(length)
        for number, sector in sectors.items():
            target.seek(number * SECTOR)
            target.write(sector)


def sample(result, path):
    files, disks = {}, {}
    for directory, _, names in os.walk(f"{result}/out"):
        for name in names:
            with open(f"{directory}/{name}") as file:
                files[os.path.relpath(f"{directory}/{name}", result)] = file.read()
    for unneeded in ("out/kernel.txt", "out/log.txt"):
        files.pop(unneeded, None)
    for name in os.listdir(f"{result}/disks"):
        with open(f"{result}/disks/{name}", "rb") as file:
            length, sectors = unpacked(file.read())
        sectors = without_old_texts(sectors)
        disks[name.removesuffix(".pack")] = packed(length, sorted(sectors.items())).hex()
    content = json.dumps({"files": files, "disks": disks}, indent=0, sort_keys=True).encode()
    with open(path, "wb") as file:
        file.write(gzip.compress(content, 9, mtime=0))


def without_old_texts(sectors):
    """Without the sectors of LVM's metadata ring that hold earlier texts: only the current one is read."""
    header = sectors.get(8)
    if header is None or header[4:20] != b" LVM2 x[5A%r0N*>":
        return sectors
    start, length, at, size = struct.unpack_from("<4Q", header, 24)
    current = set()
    for position in range(at - at % SECTOR, at + size, SECTOR):
        wrapped = position if position < length else position - length + SECTOR
        current.add((start + wrapped) // SECTOR)
    ring = range(start // SECTOR + 1, (start + length) // SECTOR)
    return {number: sector for number, sector in sectors.items() if number not in ring or number in current}


if __name__ == "__main__":
    commands = {"unpack": unpack, "sample": sample}
    if len(sys.argv) != 4 or sys.argv[1] not in commands:
        raise SystemExit(__doc__)
    commands[sys.argv[1]](sys.argv[2], sys.argv[3])
