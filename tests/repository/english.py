# SPDX-License-Identifier: BSD-3-Clause
"""english.py [PATH...]: the rules of English that a program can check (CONTRIBUTING.md), in comments and documents. Without
a PATH it checks all files of the repository.

Lines       of C and C++ have at most 100 columns.
Sentences   have at most 20 words in comments, 25 in documents. They end at a full stop, a colon, a semicolon, a question
            mark; so does each row of a table and each point of a list.
Beginnings  no sentence begins with a word of BEGINNINGS, unless it is a question.
Words       a thread, rank, process or function is named. The words of WORDS name none.
"""

import io
import re
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COLUMNS, WORDS_IN_COMMENTS, WORDS_IN_DOCUMENTS = 100, 20, 25
WORDS = {"whoever": "who", "nobody": "no thread, no rank, no function", "somebody": "a thread, a user", "anybody": "any thread"}
BEGINNINGS = re.compile(r"(What|Who|Whoever|Of|Where)\b")
LABEL = re.compile(r"[A-Z][\w'()]*( [\w'()]+){0,2} {2,}")  # "Thread safety  none"
POINT = re.compile(r"([-*]|\(?[0-9]+[.)]|[0-9]+ |\([a-z0-9]+\)|@\w+) +")
END = re.compile(r"(?<=[.:;?!])[)*\"]* +")
CODE = {".c", ".h", ".cpp", ".hpp"}
MARKS = {".sh": "#", ".cmake": "#", ".txt": "#", ".f90": "!"}  # of comments; a .txt is a CMakeLists.txt
FOLDERS = [".github", "abi", "bench", "check", "cmake", "cmd", "docs", "examples", "faces", "foreign", "fortran", "include",
           "packaging", "src", "tests", "tools", "trace"]


def sentences_of(paragraphs):
    """Pairs (line number, sentence) of lists of (line number, text)."""
    for paragraph in paragraphs:
        words = [(number, word) for number, text in paragraph for word in text.split()]
        text, starts = "", []
        for number, word in words:
            starts.append((len(text), number))
            text += word + " "
        begin = 0
        for end in [match.end() for match in END.finditer(text)] + [len(text)]:
            sentence = text[begin:end].strip()
            if sentence:
                yield max(start for start in starts if start[0] <= begin)[1], sentence
            begin = end


def split_paragraphs(lines):
    """Lists of (line number, text) out of one: empty lines, labels, points of lists and indented code end a paragraph."""
    paragraph = []
    for number, text in lines:
        plain = text.strip()
        label = LABEL.match(plain)
        point = POINT.match(plain)
        is_code = text.startswith("    ") and not re.match(r" {8,}\S", text)
        if not plain or label or point or is_code:
            if paragraph:
                yield paragraph
            paragraph = []
        if plain and not is_code:
            mark = label or point
            paragraph.append((number, plain[mark.end():] if mark else plain))
    if paragraph:
        yield paragraph


def comments_in(lines):
    """Paragraphs of the comments of a C or C++ file. A comment behind code is a paragraph of its own."""
    block, inside, column = [], False, -1
    for number, line in enumerate(lines, 1):
        alone = re.match(r"\s*//[/!]?<? ?(.*)$", line)
        star = re.match(r"\s*(?:/\*+!?|\*(?!\w)(?!/)) ?(.*?)(?:\*/)?$", line) if inside or "/*" in line else None
        behind = re.search(r"[;,{}()>a-zA-Z0-9_]\s+//[/!]?<? (.*)$", line)
        if alone and column >= 0 and line.index("//") != column:
            yield from split_paragraphs(block)  # it does not go on with the comment behind code
            block, column = [], -1
        if not alone:
            column = -1
        if alone and not re.match(r"NOLINT|clang-format", alone.group(1)):
            block.append((number, alone.group(1)))
        elif star and re.match(r"\s*(/\*|\*)", line):
            block.append((number, star.group(1)))
        else:
            yield from split_paragraphs(block)
            block = []
            if behind and line.count('"', 0, behind.start(1)) % 2 == 0:
                block, column = [(number, behind.group(1))], line.index("//", behind.start())
                continue
        if "/*" in line:
            inside = True
        if "*/" in line:
            inside = False
    yield from split_paragraphs(block)


def remarks_in(lines, mark):
    """Paragraphs of the comments of a language that begins them by a mark and ends them with the line."""
    block = []
    for number, line in enumerate(lines, 1):
        alone = re.match(rf"\s*{mark}(?!!|\$) ?(.*)$", line)
        behind = re.search(rf"\S\s+{mark} (.*)$", line)
        if alone:
            block.append((number, alone.group(1)))
            continue
        yield from split_paragraphs(block)
        block = []
        if behind and not any(line.count(quote, 0, behind.start(1)) % 2 for quote in "\"'"):
            yield from split_paragraphs([(number, behind.group(1))])
    yield from split_paragraphs(block)


def remarks_of_python(text):
    """Paragraphs of comments and docstrings. A comment behind code is a paragraph of its own."""
    block, fresh = [], True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        number, column = token.start
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            if token.line[:column].strip() or block and block[-1][0] != number - 1:
                yield from split_paragraphs(block)
                block = []
            block.append((number, token.string[1:].removeprefix(" ")))
        elif token.type == tokenize.STRING and fresh and token.string.startswith('"""'):
            lines = token.string.strip('"').split("\n")
            yield from split_paragraphs([(number + at, line[column if at else 0:]) for at, line in enumerate(lines)])
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            fresh = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    yield from split_paragraphs(block)


def prose_in(lines):
    """Paragraphs of a document in Markdown: no code, and each cell of a table for itself."""
    fence, kept = False, []
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            fence = not fence
            line = ""
        if fence or line.startswith(("#", "<!--", "[", "    ")) and not re.match(r" {4,}[-*] ", line):
            yield from split_paragraphs(kept)
            kept = []
        elif line.startswith("|"):
            for cell in line.strip("| \n").split(" | "):
                yield [(number, plain_words(cell))]
        else:
            kept.append((number, plain_words(line.strip())))
    yield from split_paragraphs(kept)


def plain_words(text):
    """Without the addresses of links; what stands between backquotes is one word."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"`[^`]*`", "code", text).replace("**", "")


def paragraphs_in(name, text):
    lines, kind = text.split("\n"), Path(name).suffix
    if kind in CODE:
        return comments_in(lines)
    if kind == ".py":
        return remarks_of_python(text)
    return remarks_in(lines, MARKS[kind]) if kind in MARKS else prose_in(lines)


def faults_in(name, text):
    lines = text.split("\n")
    if Path(name).suffix in CODE:
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS:
                yield number, f"{len(line)} columns, of which there are {COLUMNS}"
    limit = WORDS_IN_DOCUMENTS if Path(name).suffix == ".md" else WORDS_IN_COMMENTS
    for number, sentence in sentences_of(paragraphs_in(name, text)):
        shown = sentence if len(sentence) < 60 else sentence[:57] + "..."
        count = len([word for word in sentence.split() if re.search(r"\w", word)])
        if count > limit:
            yield number, f"{count} words in a sentence, {limit} are enough: {shown}"
        if BEGINNINGS.match(sentence) and not sentence.endswith("?"):
            yield number, f"begins with {sentence.split()[0]}: {shown}"
        for word in re.findall(r"[a-z]+", sentence.lower()):
            if word in WORDS:
                yield number, f"says {word} ({WORDS[word]}): {shown}"


EXAMPLES = [
    ("a.hpp", "/// Returns the rank.\nint rank();  ///< of the process\n", 0),
    ("a.hpp", "/// Where it is not known, -1.\n", 1),
    ("a.hpp", "int a;  // What is left.\n", 1),
    ("a.hpp", "/* Nobody reads it. */\n", 1),
    ("a.hpp", "int a;  // " + "word " * 12 + "\n        // " + "word " * 12 + "\n", 1),
    ("a.hpp", "int a;  // " + "word " * 12 + "\n// " + "word " * 12 + "\n", 0),
    ("a.hpp", "/// " + "word " * 21 + "\n", 2),
    ("a.hpp", "/// " + "word " * 15 + ": " + "word\n/// " * 15 + "\n", 0),
    ("a.hpp", "/// Errors         none.\n/// Thread safety  " + "any " * 12 + "\n", 0),
    ("a.hpp", 'const char* a = "// Where it is";\n', 0),
    ("a.py", '"""Where it is."""\na = 1  # Of it.\n# ' + "word " * 21 + "\n", 3),
    ("a.py", '"""Runs it.\n\n    where.py of FILE\n"""\na = """Where"""\n', 0),
    ("a.sh", "#!/bin/sh\n# Where it is.\ntrue  # Of it.\necho 'a # Where'\n", 2),
    ("a.f90", "!$omp parallel\n! Where it is.\ncall a()  ! Of it.\n", 2),
    ("a.md", "# What it is\n\nWhat is it? A library.\n\n    Of code\n", 0),
    ("a.md", "| what | Where it is |\n|---|---|\n", 1),
    ("a.md", "Of [links](a.md) and `code with words` the text counts.\n", 1),
    ("a.md", "```\nWhat is code\n```\n", 0),
]


def files_of(paths):
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*")]
    files += [*ROOT.glob("*.md"), ROOT / "CMakeLists.txt"]
    kinds = CODE | MARKS.keys() | {".md", ".py"}
    names = sorted(str(file.relative_to(ROOT)) for file in files
                   if file.suffix in kinds and (file.suffix != ".txt" or file.name == "CMakeLists.txt") and file.is_file())
    wanted = [str(Path(path).resolve().relative_to(ROOT)) for path in paths]
    return [name for name in names if not wanted or any(name == one or name.startswith(one + "/") for one in wanted)]


def main():
    for name, text, count in EXAMPLES:
        found = list(faults_in(name, text))
        if len(found) != count:
            sys.exit(f"english.py: {count} faults, not {found}, are in {text!r}")
    wrong = [f"{name}:{number}: {what}" for name in files_of(sys.argv[1:])
             for number, what in faults_in(name, (ROOT / name).read_text())]
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
