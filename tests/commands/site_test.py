# SPDX-License-Identifier: BSD-3-Clause
"""site_test.py SITE PREFIX SCRATCH: the parts of the site: its pages, without mkdocs, and its pictures. The options and
variables that pages name are those of the commands of the installation."""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import unittest
import xml.etree.ElementTree

SITE, PREFIX, SCRATCH = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
SOURCE = SITE.parents[1]
sys.path.insert(0, str(SITE))
import build  # noqa: E402
import pictures  # noqa: E402

DIALECTS = ("from-mpich", "from-open-mpi", "from-intel-mpi")


def cells(page, column):
    """Returns the words between backquotes in a column of all tables of options of a page."""
    text = (SOURCE / f"docs/{page}.md").read_text()
    text = text[text.index("## Options"):text.index("## Variables")]
    for line in text.splitlines():
        if line.startswith("| `"):
            yield from re.findall(r"`([^`]+)`", line.split(" | ")[column].strip("| "))


class Site(unittest.TestCase):
    def test_pages(self):
        build.gather(SCRATCH / "pages")
        for page in re.findall(r": (\S+\.md)$", (SITE / "mkdocs.yml").read_text(), re.M):
            name = "install.md" if page == "README.md" else page
            self.assertTrue((SCRATCH / "pages" / name).exists(), page)

    def test_links_to_what_is_not_there(self):
        path = SOURCE / "docs/faq.md"
        with self.assertRaises(SystemExit):
            build.without_dead_ends("[x](nowhere.md)", path, set())
        self.assertEqual(build.without_dead_ends("[x](../LICENSE) [y](#z)", path, set()), "x [y](#z)")

    def test_pictures(self):
        pictures.draw(SOURCE, SCRATCH / "pictures")
        drawn = sorted((SCRATCH / "pictures").glob("*.svg"))
        self.assertEqual(len(drawn), 8)
        for picture in drawn:
            xml.etree.ElementTree.parse(picture)
        used = set(re.findall(r"pictures/([\w-]+\.svg)", (SITE / "index.md").read_text() + (SITE / "performance.md").read_text()))
        self.assertEqual(used, {picture.name for picture in drawn})

    def test_tables_that_have_changed_are_noticed(self):
        with self.assertRaises(LookupError):
            pictures.table("# A\n\n| x |\n|---|\n| 1 |\n", "B", "x")
        with self.assertRaises(LookupError):
            pictures.table("# A\n\n| x |\n|---|\n| 1 |\n", "A", "y")
        self.assertEqual(pictures.table("# A\n\n| x | y |\n|---|---|\n| 1 | 2 |\n", "A", "x"), [["x", "y"], ["1", "2"]])

    def test_options_of_others_are_not_refused(self):
        for page in DIALECTS:
            options = list(cells(page, 0))
            self.assertGreater(len(options), 25, page)
            for option in options:
                if option.startswith(("-configfile", "-f ", "-hostfile", "-machinefile", "--hostfile", "--machinefile", "-info", "-version",
                                      "-V", "-host", "--host", "-H")):
                    continue  # they need files and hosts, or end the command
                done = subprocess.run([PREFIX / "bin/mpiexec", "-n", "1", *shlex.split(option.replace("DIR", "/tmp")), "true"],
                                      text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=SCRATCH, timeout=100,
                                      env={**os.environ, "A": "1"})
                self.assertEqual(done.returncode, 0, (page, option, done.stderr))

    def test_our_names(self):
        knobs = subprocess.run([PREFIX / "bin/heddle", "info", "--knobs"], text=True, stdout=subprocess.PIPE, check=True).stdout
        others = {"HEDDLE_CC", "HEDDLE_CXX", "HEDDLE_FC", "HEDDLE_DEADLOCK"}  # variables of commands
        for page in (*DIALECTS, "faq", "tuning", "papers"):
            for name in re.findall(r"HEDDLE_[A-Z_]+", (SOURCE / f"docs/{page}.md").read_text()):
                self.assertTrue(name in knobs or name in others, (page, name))


if __name__ == "__main__":
    SCRATCH.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1])
