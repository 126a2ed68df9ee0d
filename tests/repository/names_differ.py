# SPDX-License-Identifier: BSD-3-Clause
"""Files that are compiled together (heddle_compile_together in src/CMakeLists.txt) have different names in their unnamed
namespaces. The compiler refuses the same name twice, but not two functions of one name: a call could find that of the other file."""

import re
import sys
from collections import defaultdict
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent.parent / "src"
OPENS = re.compile(r"^namespace \{$", re.MULTILINE)
# A declaration, as clang-format puts it at the beginning of a line. The first group that is there is the name.
DECLARES = re.compile(
    r"(?:template.*>\s*)?(?:class|struct|union|enum class|enum)\s+(?:alignas\(.*?\)\s*)?(\w+)"
    r"|using (\w+) ="
    r"|(?!static_assert|using|namespace|template|TEST|INSTANTIATE|extern)[^=(;]*?[\s*&](\w+)(?:\[[^=]*\])?\s*[(={;]")


def body_at(text, start):
    """Returns the text up to the brace that closes the one before `start`."""
    depth, end = 1, start
    while depth and end < len(text):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    return text[start:end]


def unnamed_names(path):
    text = re.sub(r"//.*", "", path.read_text())
    names = set()
    for opening in OPENS.finditer(text):
        for line in body_at(text, opening.end()).splitlines():
            declares = DECLARES.match(line) if line and line[0] not in " }#:" else None
            if declares:
                names.add(next(filter(None, declares.groups())))
    return names


def compiled_one_by_one():
    """Returns two sets of files and folders, those of the library and those of its tests."""
    calls = re.findall(r'heddle_compile_together\((\w+) "[^"]*"([^)]*)\)', (SOURCES / "CMakeLists.txt").read_text())
    lists = {target: set(words.split()) for target, words in calls}
    return lists["heddle_core"], lists["unit_tests"]


library, tests = compiled_one_by_one()
holders = defaultdict(list)
files = 0
for path in sorted(SOURCES.rglob("*.cpp")):
    file = path.relative_to(SOURCES)
    is_test = path.stem.endswith("_test")
    apart = tests if is_test else library
    if str(file) in apart or str(file.parent) in apart:
        continue
    files += 1
    for name in unnamed_names(path):
        holders[file.parent, is_test, name].append(file.name)

wrong = [f"src/{folder}: {name} is in {' and in '.join(where)}"
         for (folder, _, name), where in sorted(holders.items()) if len(where) > 1]
print("\n".join(wrong) or f"{len(holders)} names in {files} files")
sys.exit(1 if wrong or len(holders) < 1000 else 0)
