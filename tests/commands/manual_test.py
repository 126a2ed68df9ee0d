# SPDX-License-Identifier: BSD-3-Clause
"""manual_test.py PREFIX WORK ABI: the manual pages and completions of the installation at PREFIX. WORK is a folder for
programs.

Every function has a page. If a page says that a function raises an error, a program raises it by wrong arguments. The test
asks for completions as bash does. zsh and fish check the syntax of theirs, if they are installed.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

PREFIX, WORK, ABI = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
MAN = next(PREFIX.rglob("man/man3")).parent
FUNCTIONS = json.loads((ABI / "functions.json").read_text())

# Wrong arguments, each beside the class that the page of its function has to name.
CALLS = """
MPI_Send(&x, -1, MPI_INT, 0, 0, MPI_COMM_SELF) COUNT
MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_SELF) TYPE
MPI_Send(&x, 1, MPI_INT, 5, 0, MPI_COMM_SELF) RANK
MPI_Send(&x, 1, MPI_INT, 0, -7, MPI_COMM_SELF) TAG
MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL) COMM
MPI_Isend(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, nothing) ARG
MPI_Recv(&x, 1, MPI_INT, 5, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE) RANK
MPI_Bcast(&x, -1, MPI_INT, 0, MPI_COMM_SELF) COUNT
MPI_Bcast(&x, 1, MPI_INT, 5, MPI_COMM_SELF) ROOT
MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_SELF) OP
MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_SELF) TYPE
MPI_Barrier(MPI_COMM_NULL) COMM
MPI_Comm_size(MPI_COMM_SELF, nothing) ARG
MPI_Comm_size(MPI_COMM_NULL, &x) COMM
MPI_Group_size(MPI_GROUP_NULL, &x) GROUP
MPI_Type_contiguous(-1, MPI_INT, &type) COUNT
MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type) TYPE
MPI_Type_size(MPI_DATATYPE_NULL, &x) TYPE
MPI_Info_get_nkeys(MPI_INFO_NULL, &x) INFO
MPI_Win_fence(0, MPI_WIN_NULL) WIN
MPI_Start(&null) REQUEST
"""


def page(name):
    return (MAN / "man3" / f"{name}.3").read_text()


class Pages(unittest.TestCase):
    def test_every_function_has_one(self):
        for function in FUNCTIONS:
            text = page(function["name"])
            if text.startswith(".so "):
                self.assertTrue((MAN / text.split()[1]).exists(), function["name"])
                continue
            for part in ("\\- ", ".SH SYNOPSIS", f"{function['name']}(", ".SH DESCRIPTION", ".SH ERRORS"):
                self.assertIn(part, text, function["name"])
            for parameter in function["params"]:
                if parameter["name"]:
                    self.assertIn(parameter["name"], text.split(".SH DESCRIPTION")[0])

    def test_fortran(self):
        text = page("MPI_Send")
        self.assertIn("subroutine MPI_Send(buf, count, datatype, dest, tag, comm, ierror)", text.replace("&\n    ", ""))
        self.assertIn("type(MPI_Comm), intent(in) :: comm", text)

    def test_what_is_not_there_yet_says_so(self):
        listed = subprocess.run([PREFIX / "bin/heddle", "info", "--unsupported"], check=True, text=True,
                                stdout=subprocess.PIPE).stdout.split()
        said = [f["name"] for f in FUNCTIONS if "MPI_ERR_UNSUPPORTED_OPERATION, always" in page(f["name"])]
        self.assertEqual(sorted(said), sorted(name for name in listed if not page(name).startswith(".so ")))

    def test_errors_are_those_that_are_raised(self):
        calls = [line.rsplit(" ", 1) for line in CALLS.strip().split("\n")]
        lines = "".join(f"    expect({call}, MPI_ERR_{error}, \"{call}\");\n" for call, error in calls)
        program = WORK / "errors.c"
        program.write_text(f"""
#include <mpi.h>
#include <stdio.h>
static int wrong;
static void expect(int code, int wanted, const char* call) {{
    int class = 0;
    MPI_Error_class(code, &class);
    if (class == wanted) return;
    printf("%s: class %d, and not %d\\n", call, class, wanted);
    wrong = 1;
}}
int main(void) {{
    int x = 0;
    void* volatile none = 0;
    MPI_Datatype type;
    MPI_Request null = MPI_REQUEST_NULL;
    MPI_Init(0, 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
#define nothing none
{lines}    MPI_Finalize();
    return wrong;
}}
""")
        subprocess.run([PREFIX / "bin/mpicc", "-w", program, "-o", WORK / "errors"], check=True)
        done = subprocess.run([WORK / "errors"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        for call, error in calls:
            self.assertIn(f"MPI_ERR_{error}\n", page(call.split("(")[0]), call)

    def test_commands(self):
        for name in ("mpiexec", "mpirun", "mpicc", "mpicxx", "heddle", "heddle-info", "heddle-locks"):
            self.assertTrue((MAN / "man1" / f"{name}.1").exists(), name)
        text = (MAN / "man1/mpiexec.1").read_text().replace("\\-", "-")
        for option in ("--bind-to", "--timeout", "--hostfile"):
            self.assertIn(option, text)

    @unittest.skipUnless(shutil.which("man"), "there is no man")
    def test_man_understands_them(self):
        for name in ("man3/MPI_Send.3", "man3/MPI_Type_create_struct.3", "man1/mpiexec.1", "man1/heddle.1"):
            done = subprocess.run(["man", "--warnings", "-l", MAN / name], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C"})
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)


class Completions(unittest.TestCase):
    def complete(self, command, *words):
        script = next(PREFIX.rglob(f"bash-completion/completions/{command}"))
        function = {"mpiexec": "_heddle_mpiexec", "mpirun": "_heddle_mpiexec", "heddle": "_heddle"}[command]
        ask = (f'. "{script}"; COMP_WORDS=({" ".join(repr(word) for word in (command, *words))}); '
               f'COMP_CWORD={len(words)}; {function}; printf "%s\\n" "${{COMPREPLY[@]}}"')
        return subprocess.run(["bash", "-c", ask], check=True, text=True, stdout=subprocess.PIPE, cwd=WORK).stdout.split()

    def test_bash(self):
        self.assertEqual(self.complete("mpiexec", "--time"), ["--timeout", "--timestamp-output"])
        self.assertEqual(self.complete("mpirun", "--bind-to", "co"), ["core"])
        self.assertIn("info", self.complete("heddle", "i"))
        self.assertEqual(self.complete("heddle", "info", "--kno"), ["--knobs"])

    def test_of_all_shells(self):
        for name in ("zsh/site-functions/_mpiexec", "zsh/site-functions/_heddle", "fish/vendor_completions.d/mpiexec.fish",
                     "fish/vendor_completions.d/heddle.fish"):
            self.assertTrue(list(PREFIX.rglob(name)), name)

    def test_shells_understand_them(self):
        for shell, folder in (("zsh", "zsh/site-functions"), ("fish", "fish/vendor_completions.d")):
            if not shutil.which(shell):
                continue
            for script in next(PREFIX.rglob(folder)).iterdir():
                subprocess.run([shell, "-n", script], check=True)


if __name__ == "__main__":
    WORK.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
