# SPDX-License-Identifier: BSD-3-Clause
"""`heddle replay`, with recordings written here from docs/RECORDINGS.md, not by the library.

    replay_test.py PREFIX WORK [RECORDING...]

PREFIX is an installation, WORK a folder for files. The RECORDINGs are replayed, too.
"""

import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

HEDDLE = Path(sys.argv[1]).resolve() / "bin" / "heddle"
WORK = Path(sys.argv[2])
POST, ARRIVE, CANCEL, TAKE = range(4)
ANY_SOURCE, ANY_TAG = -1, -2


def number(difference: int) -> bytes:
    difference = (difference + 2**31) % 2**32 - 2**31
    value = 2 * difference if difference >= 0 else -2 * difference - 1
    text = bytearray()
    while value >= 0x80:
        text.append(value & 0x7F | 0x80)
        value >>= 7
    text.append(value)
    return bytes(text)


def block(events: list, index: int) -> bytes:
    text = b""
    before = (0, 0, 0)
    for kind, *envelope in events:
        same = [now == last for now, last in zip(envelope, before)]
        text += bytes([kind | same[0] << 2 | same[1] << 3 | same[2] << 4])
        text += b"".join(number(now - last) for now, last in zip(envelope, before) if now != last)
        before = tuple(envelope)
    fields = struct.pack("<III", len(text), len(events), index)
    return fields + struct.pack("<I", zlib.crc32(fields + text)) + text


def recording(*blocks: list) -> bytes:
    header = b"HEDDLEMR" + struct.pack("<III", 1, 3, 4)
    text = header + struct.pack("<I", zlib.crc32(header))
    return text + b"".join(block(events, i) for i, events in enumerate([*blocks, []]))


def replay(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run([HEDDLE, "replay", *arguments], capture_output=True, text=True, timeout=120, check=False)


def file(name: str, content: bytes) -> Path:
    path = WORK / name
    path.write_bytes(content)
    return path


def expect(text: str, *lines: str) -> None:
    for line in lines:
        if not re.search(line, text, re.MULTILINE):
            sys.exit(f"FAILED: no line {line} in\n{text}")


def accepted(*arguments) -> str:
    result = replay(*arguments)
    if result.returncode != 0:
        sys.exit(f"FAILED: {arguments}: {result.stderr}")
    return result.stdout


def refused(reason: str, *arguments) -> None:
    result = replay(*arguments)
    if result.returncode != 2 or not result.stderr.startswith("heddle: "):
        sys.exit(f"FAILED: exit code {result.returncode}: {result.stderr}")
    expect(result.stderr, reason)


WORK.mkdir(parents=True, exist_ok=True)
# Ten receives, of which the last is matched first; two unexpected messages; and an event of every other kind.
posts = [(POST, 2, 1, tag) for tag in range(10)]
rest = [(ARRIVE, 2, 1, 9), (ARRIVE, 2, 0, 77), (ARRIVE, 4, 1000000, 2147483647), (POST, 2, ANY_SOURCE, ANY_TAG),
        (POST, 2, ANY_SOURCE, ANY_TAG), (CANCEL, 2, ANY_SOURCE, ANY_TAG), (CANCEL, 2, 1, 4),
        (TAKE, 4, ANY_SOURCE, 2147483647), (POST, 2, ANY_SOURCE, 77)]
whole = recording(posts, rest)
said = accepted(file("whole", whole))
expect(said, r"whole: rank 3 of 4, 19 events$", r"^  13 receives posted, 3 of them with MPI_ANY_SOURCE, 2 with MPI_ANY_TAG; at most 10 ",
       r"^  3 messages, 2 of them unexpected; at most 2 ", "^  2 receives cancelled$", "^  1 messages taken by probes$",
       # A list looks at 10, 9 and 9 receives.
       r"^  list +9\.33 +10 ", r"^  hash +[0-9.]+ +[0-9]+ ")

# Several ranks, and all of them.
said = accepted(WORK / "whole", file("other", recording([(ARRIVE, 2, 1, 5)])), file("empty", recording()))
expect(said, r"other: rank 3 of 4, 1 events$", r"empty: rank 3 of 4, 0 events$", r"^all 3 files: 20 events$",
       # An average of no events does not exist.
       r"^  list +- +0 +- +0 +-$")

# The command refuses a recording that is not whole and names the place. It can replay the events before that place.
second = 24 + len(block(posts, 0))
for size in range(0, len(whole), 7):
    refused(r"cut (is no recording|ends) ", file("cut", whole[:size]))
refused(f"cut ends in block 1, which begins at byte {second}$", file("cut", whole[:second + 30]))
expect(accepted("--before-damage", WORK / "cut"), r"cut: rank 3 of 4, 10 events$")
refused("early ends in block 0, which begins at byte 24$", "--before-damage", file("early", whole[:50]))
refused(f"wrong is damaged in block 1, which begins at byte {second}$",
        file("wrong", whole[:second + 20] + b"\x55" + whole[second + 21:]))
refused("has version 2 of the format, and version 1 can be read$", file("later", whole[:8] + b"\x02" + whole[9:]))
refused("goes on at byte", file("longer", whole + b"\n"))
refused("is no recording of matching", file("text", b"int main(void) { return 0; }"))
refused("cannot be read: No such file", WORK / "nothing")
refused(r"is a directory; recordings in it are files, such as \S+/rank-0.matching$", WORK)
refused("its event 1 cancels a receive that is not posted", file("contradiction", recording([(CANCEL, 2, 1, 4)])))
refused("its event 2 takes a message that has not come",
        file("contradiction", recording([(ARRIVE, 2, 1, 4), (TAKE, 2, 1, 5)])))
if replay().returncode == 0:
    sys.exit("FAILED: no file is no error")

for path in sys.argv[3:]:
    expect(accepted(path), r"rank [0-9]+ of [0-9]+, [1-9][0-9]+ events$", r"^  list +[0-9.]+ +[1-9]")
