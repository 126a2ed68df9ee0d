# SPDX-License-Identifier: BSD-3-Clause
"""Files that are compiled together have different names in their unnamed namespaces. These are no names of functions of the
folder's headers, either. The compiler does not refuse two functions of one name: a call could find that of the other file.
heddle_compile_together() in CMakeLists.txt says which files these are."""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
OPENS = re.compile(r"^namespace \{$", re.MULTILINE)
# A declaration, as clang-format puts it at the beginning of a line. The first group that is there is the name.
DECLARES = re.compile(
    r"(?:template.*>\s*)?(?:class|struct|union|enum class|enum)\s+(?:alignas\(.*?\)\s*)?(\w+)"
    r"|using (\w+) ="
    r"|using (?:\w+::)+(\w+);"
    r"|(?!static_assert|using|namespace|template|TEST|INSTANTIATE|extern)[^=(;]*?[\s*&](?!__attribute__)(\w+)(?:\[[^=]*\])?\s*[(={;]")
FUNCTION = re.compile(
    r"(?!static_assert|using|namespace|template|class|struct|enum)[^=(;]*?[\s*&](\w+)\s*\(")


def body_at(text, start):
    """Returns the text up to the brace that closes the one before `start`."""
    depth, end = 1, start
    while depth and end < len(text):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    return text[start:end]


def unnamed_names(path):
    text = re.sub(r'R"\(.*?\)"|"(?:\\.|[^"\\\n])*"', '""', path.read_text(), flags=re.DOTALL)
    text = re.sub(r"//.*", "", text)
    names = {}
    for opening in OPENS.finditer(text):
        for line in body_at(text, opening.end()).splitlines():
            declares = DECLARES.match(line) if line and line[0] not in " }#:" else None
            if declares:
                # Two files may declare that they use the same name of another namespace.
                same = line.startswith("using ") and "=" not in line
                names[next(filter(None, declares.groups()))] = line.replace(" heddle::", " ") if same else path.name
                if line.startswith("constexpr "):
                    names.update(dict.fromkeys(re.findall(r", (\w+)(?: =|\{)", line), path.name))
    return names


def compiled_together():
    """Returns the files that are compiled with others of their folder, each with the target that it belongs to."""
    files = {}
    for script in sorted([ROOT / "src/CMakeLists.txt", ROOT / "check/CMakeLists.txt", *ROOT.glob("cmd/*/CMakeLists.txt")]):
        calls = re.findall(r'heddle_compile_together\((\w+) "[^"]*"([^)]*)\)', script.read_text())
        apart = {target: words.split() for target, words in calls}
        for path in sorted(script.parent.rglob("*.cpp")) if apart else []:
            target = "unit_tests" if path.stem.endswith("_test") else calls[0][0]
            file = path.relative_to(script.parent)
            if target in apart and not {str(file), str(file.parent)} & set(apart[target]):
                files[path] = target
    return files


def functions_of_headers(folder):
    lines = "".join(re.sub(r"//.*", "", path.read_text()) for path in folder.glob("*.hpp")).splitlines()
    found = (FUNCTION.match(line) for line in lines if line and line[0] not in " }#:")
    return {match.group(1) for match in found if match}


holders = defaultdict(list)
files = compiled_together()
for path, target in files.items():
    for name, declaration in unnamed_names(path).items():
        holders[path.parent, target, name].append((path.name, declaration))

wrong = [f"{folder.relative_to(ROOT)}: {name} is in {' and in '.join(file for file, _ in where)}"
         for (folder, _, name), where in sorted(holders.items()) if len({declaration for _, declaration in where}) > 1]
declared = {folder: functions_of_headers(folder) for folder in {path.parent for path in files}}
wrong += [f"{folder.relative_to(ROOT)}: {name} is in {where[0][0]} and in a header"
          for (folder, target, name), where in sorted(holders.items())
          if name in declared[folder] and not where[0][1].startswith("using ") and target != "unit_tests"]
print("\n".join(wrong) or f"{len(holders)} names in {len(files)} files")
sys.exit(1 if wrong or len(holders) < 1000 else 0)
