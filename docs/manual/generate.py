#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the manual pages and the completions of shells.

    generate.py --output FOLDER --unsupported HEADER --heddle PROGRAM --mpiexec PROGRAM --version VERSION [--run-by EMULATOR]

Pages of MPI functions come from the data of the ABI (abi/functions.json) and the Fortran bindings' model of it. functions.txt
has one sentence for each. Pages and completions of commands come from their --help texts. FOLDER gets man/man1, man/man3, and
the folders in which bash, zsh and fish look.
"""

import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "abi"), str(ROOT / "fortran/generator")]

import facts  # noqa: E402
import model  # noqa: E402
import modules  # noqa: E402

# ---- What functions do ----


def sentences():
    texts = {}
    for line in (HERE / "functions.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, text = line.split(": ", 1)
            texts[name] = text
    return texts


# Objects whose functions of attributes, error handlers and names work like those of communicators.
OBJECTS = {"Win": "a window", "File": "a file", "Session": "a session", "Type": "a datatype"}
SAME_FOR_OBJECTS = re.compile(r"(Win|File|Session|Type)_((?:create|free)_keyval|(?:set|get|delete)_attr|"
                              r"(?:create|set|get|call)_errhandler)$")


def derived(name, texts):
    """Returns the description of a function that begins, prepares, or does for other objects the work of another one."""
    if match := re.fullmatch(r"(\w+)_(toint|fromint)", name):
        way = "Returns the integer of a handle, as Fortran's mpif.h has it" if match[2] == "toint" else \
            "Returns the handle of an integer of mpif.h"
        return f"{way}. Meant for layers on top of the ABI."
    if match := SAME_FOR_OBJECTS.match(name):
        text = texts["Comm_" + match[2]].split(". ")[0].rstrip(".")
        return f"{text.replace('communicators', OBJECTS[match[1]].split(' ')[1] + 's')}, for {OBJECTS[match[1]]}."
    if name.endswith("_init") and name.removesuffix("_init") in texts:
        return (f"Makes a persistent request for what MPI_{name.removesuffix('_init')} does. MPI_Start begins it, as often as "
                "wanted, and MPI_Request_free ends it.")
    if match := re.fullmatch(r"(\w+)_(begin|end)", name):
        if match[1] in texts and match[2] == "begin":
            return f"Begins what MPI_{match[1]} does. MPI_{match[1]}_end ends it; there is no request."
        if match[1] in texts:
            return f"Ends what MPI_{match[1]}_begin has begun."
    whole = re.sub(r"(^|_)[iI](\w)", lambda m: m[1] + (m[2].upper() if m[1] == "" else m[2]), name, count=1)
    if whole != name and whole in texts:
        return (f"Begins what MPI_{whole} does, and returns at once. `request` is complete when that is done; until then the "
                "program leaves the memory alone.")
    return None


def text_of(name, texts):
    stem = name.removeprefix("MPI_").removesuffix("_c")
    return texts.get(stem) or derived(stem, texts)


# ---- What functions raise ----

HANDLES = {"MPI_Comm": "COMM", "MPI_Datatype": "TYPE", "MPI_Op": "OP", "MPI_Group": "GROUP", "MPI_Info": "INFO",
           "MPI_Errhandler": "ERRHANDLER", "MPI_Session": "SESSION", "MPI_Win": "WIN", "MPI_File": "FILE",
           "MPI_Request": "REQUEST"}
REASONS = {
    "COMM": "is MPI_COMM_NULL or no communicator", "TYPE": "is MPI_DATATYPE_NULL, no datatype or not committed",
    "OP": "is MPI_OP_NULL or does not fit the datatype", "GROUP": "is MPI_GROUP_NULL or no group",
    "INFO": "is no info object", "ERRHANDLER": "is no error handler of this kind", "SESSION": "is no session",
    "WIN": "is MPI_WIN_NULL or no window", "FILE": "is no file", "REQUEST": "is no request",
    "COUNT": "is negative", "RANK": "is no rank of the group", "TAG": "is negative, or above MPI_TAG_UB",
    "ROOT": "is no rank of the group", "ASSERT": "has bits that mean nothing here", "ARG": "is a null pointer, or out of range",
}
NAMES = {"dest": "RANK", "source": "RANK", "target_rank": "RANK", "tag": "TAG", "sendtag": "TAG", "recvtag": "TAG",
         "root": "ROOT", "assert": "ASSERT"}
# Functions that check nothing, or cannot report an error.
WITHOUT_ERRORS = re.compile(r"MPI_(Wtime|Wtick|Aint_\w+|\w+_(toint|fromint)|Pcontrol|Finalized|Initialized|Get_version|"
                            r"Status_[gs]et_(error|source|tag)|Abort)$")
RECEIVES = re.compile(r"MPI_(Recv|Irecv|Mrecv|Imrecv|Sendrecv\w*|Isendrecv\w*|Wait\w*|Test(all|any|some)?)(_c)?$")


def raised(function):
    """Returns pairs of an error class and the arguments that raise it."""
    classes = {}
    given = set()  # handles behind a pointer that the function reads
    if not any(part in function.name for part in model.NOT_IN_FORTRAN):
        given = {p.name for p in model.function(function).parameters if p.kind.startswith("handle") and p.intent != "out"}
    for parameter in function.parameters:
        base = parameter.type.replace("const", "").split("[")[0].strip()
        name = parameter.name
        if name in given:
            classes.setdefault(HANDLES.get(base.rstrip(" *"), "ARG"), []).append(name)
            if base.endswith("*"):
                classes.setdefault("ARG", []).append(name)
        elif base in HANDLES:
            classes.setdefault(HANDLES[base], []).append(name)
        elif name in NAMES:
            classes.setdefault(NAMES[name], []).append(name)
        elif base in ("int", "MPI_Count") and re.search(r"count$|counts$", name):
            classes.setdefault("COUNT", []).append(name)
        elif base.endswith("*") and not base.startswith("void") and "status" not in name:
            classes.setdefault("ARG", []).append(name)
    return classes


def errors(function, unsupported):
    if function.name in unsupported:
        return "MPI_ERR_UNSUPPORTED_OPERATION, always: Heddle does not have this function yet."
    if function.chapter == "tool":
        return ("Returns MPI_SUCCESS or one of the MPI_T_ERR_* classes, as MPI_T_ERR_NOT_INITIALIZED and MPI_T_ERR_INVALID_INDEX. "
                "No error handler is called.")
    if WITHOUT_ERRORS.match(function.name):
        return "None."
    rows = [f".TP\nMPI_ERR_{error}\n" + roff(f"{', '.join(f'`{name}`' for name in names)} {REASONS[error]}.")
            for error, names in raised(function).items()]
    if RECEIVES.match(function.name):
        rows.append(".TP\nMPI_ERR_TRUNCATE\nThe message is longer than the place for it.")
    if not rows:
        return "MPI_ERR_OTHER, if MPI is not initialised."
    rows.append(".PP\nThe error handler of the object is called, or that of MPI_COMM_SELF where there is none. The text of the error names the "
                "call, the argument and the rank.")
    return "\n".join(rows)


# ---- Pages of functions ----

def roff(text):
    """Returns text with `names` as roff. Dashes are plain ASCII ones."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"`([^`]+)`", r"\\fI\1\\fR", text)


def header(name, section, version):
    return f".\\\" SPDX-License-Identifier: BSD-3-Clause\n.TH {name.upper() if section != 3 else name} {section} \"\" \"Heddle {version}\" \"Heddle\"\n"


def c_synopsis(functions):
    lines = ["#include <mpi.h>", ""]
    for function in functions:
        lines += (function.declarator(function.name) + ";").split("\n") + [""]
    return ".nf\n" + "\n".join(line.replace("\\", "\\e").replace("-", "\\-") for line in lines[:-1]) + "\n.fi\n"


def fortran_synopsis(fact):
    if any(part in fact.name for part in model.NOT_IN_FORTRAN):
        return ""
    f = model.function(fact)
    kind = "function" if f.is_function else "subroutine"
    arguments = [p.name for p in f.visible] + ([] if f.is_function else ["ierror"])
    module = "mpi_f08" if f.in_f08 else "mpi"
    lines = [f"use {module}", "", *modules_wrap(f"{kind} {f.name}({', '.join(arguments)})")]
    for p in f.visible:
        declared, shape = modules.f08_declaration(f, p) if f.in_f08 else modules.mpi_declaration(f, p, True)
        lines.append(f"  {declared} :: {p.name}{shape}")
    if not f.is_function:
        lines.append("  integer, optional, intent(out) :: ierror" if f.in_f08 else "  integer, intent(out) :: ierror")
    return ".SH FORTRAN\n.nf\n" + "\n".join(line.replace("-", "\\-") for line in lines) + "\n.fi\n"


def modules_wrap(line):
    return re.sub(r"(.{60,90}?, )", "\\1&\n    ", line).split("\n")


DIRECTIONS = {"in": "read", "out": "set", "inout": "read and set"}


def arguments(fact):
    if any(part in fact.name for part in model.NOT_IN_FORTRAN):
        return ""
    rows = [f".TP\n\\fI{p.name}\\fR\n{DIRECTIONS[p.intent]}; {p.c_type.replace('-', chr(92) + '-')}"
            for p in model.function(fact).parameters]
    return ".SH ARGUMENTS\n" + "\n".join(rows) + "\n" if rows else ""


def function_page(fact, large, text, unsupported, version):
    first = re.split(r"(?<=[a-z0-9)])[.:;] ", text)[0].rstrip(".")
    page = header(fact.name, 3, version)
    page += f".SH NAME\n{fact.name} \\- {roff(first)}\n.SH SYNOPSIS\n"
    page += c_synopsis([fact] + ([large] if large else [])) + fortran_synopsis(fact) + arguments(fact)
    page += f".SH DESCRIPTION\n{roff(text)}\n"
    if fact.deprecated:
        page += f".PP\nDeprecated since MPI {fact.deprecated}.\n"
    page += f".SH ERRORS\n{errors(fact, unsupported)}\n"
    page += ".SH SEE ALSO\nheddle(7), mpiexec(1), and the MPI standard, version 5.0\n"
    return page


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_functions(output, unsupported, version):
    texts = sentences()
    known = {f.name: f for f in facts.functions()}
    without = [name for name in known if text_of(name, texts) is None]
    if without:
        sys.exit(f"generate.py: functions.txt says nothing of {', '.join(without)}")
    strange = [name for name in texts if "MPI_" + name not in known]
    if strange:
        sys.exit(f"generate.py: functions.txt names functions that do not exist: {', '.join(strange)}")
    for name, fact in known.items():
        small = name.removesuffix("_c")
        if small != name and small in known:
            page = f".so man3/{small}.3\n"
        else:
            page = function_page(fact, known.get(name + "_c"), text_of(name, texts), unsupported, version)
        write(output / "man/man3" / f"{name}.3", page)


# ---- Pages and completions of commands ----

RUN_BY = []  # the command that runs programs of another processor


def help_of(*command):
    """Returns the help text of a command, or '' if it is not part of this installation."""
    done = subprocess.run([str(word) for word in (*RUN_BY, *command, "--help")], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.stdout if done.returncode == 0 else ""


def verbatim(text):
    lines = (line.replace("\\", "\\e").replace("-", "\\-") for line in text.rstrip().split("\n"))
    return ".nf\n" + "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in lines) + "\n.fi\n"


def command_page(name, does, text, version, more=""):
    return (header(name, 1, version) + f".SH NAME\n{name} \\- {roff(does)}\n.SH DESCRIPTION\n{more}" + verbatim(text) +
            ".SH SEE ALSO\nheddle(1), heddle(7), mpicc(1), mpiexec(1)\n")


def subcommands(text):
    """Returns names and descriptions in a help text of CLI11."""
    section = re.search(r"^Subcommands:\n((?:  .*\n?)+)", text, re.M)
    rows = re.findall(r"^  (\w+)\s+(.*)$", section[1], re.M) if section else []
    return dict(rows)


def options_of(text):
    """Returns the options in a help text: the names of each, and its description."""
    found = []
    for line in text.split("\n"):
        if match := re.match(r"  (-[\w?-]+(?:,\s*-[\w?-]+)*)(?:[ =]\S+)*?(?:\s{2,}(.*))?$", line):
            found.append((re.split(r",\s*", match[1]), match[2] or ""))
    return found


WRAPPERS = {"mpicc": ("C", "mpicc"), "mpicxx": ("C++", "mpicxx"), "mpic++": ("C++", "mpicxx"), "mpiCC": ("C++", "mpicxx"),
            "mpifort": ("Fortran", "mpifort"), "mpif77": ("Fortran", "mpifort"), "mpif90": ("Fortran", "mpifort")}


def write_commands(output, heddle, mpiexec, version):
    bin = pathlib.Path(mpiexec).parent
    man = output / "man/man1"
    text = help_of(mpiexec)
    write(man / "mpiexec.1", command_page("mpiexec", "starts the ranks of an MPI job", text, version))
    write(man / "mpirun.1", ".so man1/mpiexec.1\n")
    for name, (language, script) in WRAPPERS.items():
        if not (bin / script).exists():
            continue
        if name == script:
            shown = re.sub(r"(?m)^The compiler is .*$", "The compiler is that of the installation.", help_of(bin / script))
            write(man / f"{name}.1", command_page(name, f"compiles and links MPI programs in {language}", shown, version))
        else:
            write(man / f"{name}.1", f".so man1/{script}.1\n")
    whole = help_of(heddle)
    write(man / "heddle.1", command_page("heddle", "tells what this MPI is and does, and measures it", whole, version))
    inner = {}
    for name, does in subcommands(whole).items():
        said = help_of(heddle, name)
        if not said:
            continue
        inner[name] = (does, said)
        write(man / f"heddle-{name}.1", command_page(f"heddle-{name}", does, inner[name][1], version))
    write_completions(output, options_of(text), {name: (does, options_of(own)) for name, (does, own) in inner.items()})


def write_completions(output, launcher, inner):
    words = " ".join(sorted({name for names, _ in launcher for name in names}))
    commands = " ".join(inner)
    cases = "\n".join(f"        {name}) words='{' '.join(n for names, _ in options for n in names)}' ;;"
                      for name, (_, options) in inner.items())
    bash = output / "bash-completion/completions"
    write(bash / "mpiexec", f"""# SPDX-License-Identifier: BSD-3-Clause
_heddle_mpiexec() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} words=
    case $before in
        --bind-to | -bind-to) words='none share core hwthread socket numa l3cache' ;;
        --map-by | -map-by) words='core slot hwthread socket numa l3cache node' ;;
        --via | -via) words='srun prterun mpiexec.hydra' ;;
        --stdin | -stdin | -s) words='0 all none' ;;
        *) case $word in -*) words='{words}' ;; esac ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    [ -n "$words" ] || COMPREPLY=($(compgen -c -- "$word") $(compgen -f -- "$word"))
}}
complete -o filenames -F _heddle_mpiexec mpiexec mpirun
""")
    write(bash / "mpirun", ". \"${BASH_SOURCE%/*}/mpiexec\"\n")
    write(bash / "heddle", f"""# SPDX-License-Identifier: BSD-3-Clause
_heddle() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} words='{commands}'
    [ "$COMP_CWORD" -eq 1 ] || case ${{COMP_WORDS[1]}} in
{cases}
        *) words= ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    [ ${{#COMPREPLY[@]}} -ne 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}}
complete -o filenames -F _heddle heddle
""")
    quoted = {"'": "'\\''", "[": "(", "]": ")", ":": ","}

    def clean(text):
        return "".join(quoted.get(letter, letter) for letter in text)

    zsh = output / "zsh/site-functions"
    rows = "\n".join(f"    '{name}[{clean(does)}]' \\" for names, does in launcher for name in names)
    write(zsh / "_mpiexec", f"#compdef mpiexec mpirun\n# SPDX-License-Identifier: BSD-3-Clause\n_arguments \\\n{rows}\n"
                            "    '*::program:_normal'\n")
    rows = "\n".join(f"    '{name}:{clean(does)}'" for name, (does, _) in inner.items())
    cases = "\n".join(f"        {name}) _values option {' '.join(n for names, _ in options for n in names)} ;;"
                      for name, (_, options) in inner.items())
    write(zsh / "_heddle", f"""#compdef heddle
# SPDX-License-Identifier: BSD-3-Clause
local -a commands
commands=(
{rows}
)
if (( CURRENT == 2 )); then
    _describe command commands
else
    case $words[2] in
{cases}
    esac
    _files
fi
""")
    fish = output / "fish/vendor_completions.d"

    def fish_option(command, name, does, condition=""):
        kind = "l" if name.startswith("--") else "s" if len(name) == 2 else "o"
        return f"complete -c {command}{condition} -{kind} '{name.lstrip('-')}' -d '{clean(does)}'\n"

    for command in ("mpiexec", "mpirun"):
        write(fish / f"{command}.fish", "# SPDX-License-Identifier: BSD-3-Clause\n" + "".join(
            fish_option(command, name, does) for names, does in launcher for name in names))
    write(fish / "heddle.fish", "# SPDX-License-Identifier: BSD-3-Clause\n" + "".join(
        f"complete -c heddle -n __fish_use_subcommand -f -a {name} -d '{clean(does)}'\n" +
        "".join(fish_option("heddle", option, said, f" -n '__fish_seen_subcommand_from {name}'")
                for names, said in options for option in names) for name, (does, options) in inner.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--output", "--unsupported", "--heddle", "--mpiexec", "--version"):
        parser.add_argument(name, required=True)
    parser.add_argument("--run-by", default="", help="what runs programs of another processor")
    wanted = parser.parse_args()
    RUN_BY[:] = wanted.run_by.split()
    output = pathlib.Path(wanted.output)
    unsupported = set(re.findall(r'"(MPI_\w+)"', pathlib.Path(wanted.unsupported).read_text()))
    write_functions(output, unsupported, wanted.version)
    write_commands(output, wanted.heddle, wanted.mpiexec, wanted.version)


if __name__ == "__main__":
    main()
