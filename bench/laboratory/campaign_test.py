# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns with contestants that are shell scripts: they note how they were called."""

import contextlib
import io
import pathlib
import tempfile
import unittest
import unittest.mock

from laboratory import contestants
from laboratory.campaign import Campaign, Plan, Settings, configuration
from laboratory.figure import Figure, Metric, Series, Who
from laboratory.machine import Machine
from laboratory.points import SERIES_AS_A_WHOLE, Store
from laboratory.readings import Counter, Result
from laboratory.summary import summarise

MPIEXEC = """#!/bin/sh
name=$(basename "$(dirname "$(dirname "$0")")")
echo "$name $*" | sed "s|/[^ ]*/||" >>"{log}"
[ "$HEDDLE_LOCK" != bad ] || { echo "MPI_ERR_OTHER: HEDDLE_LOCK=bad: allowed are mutex" >&2; exit 1; }
case "$*" in *"--fails 2") echo "this went wrong" >&2; exit 3 ;; esac
[ -z "$HEDDLE_COUNTERS" ] || printf 'heddle: counters of rank 0 of 1\\n  searches  7 times\\n' >&2
[ -z "$HEDDLE_STRANGER" ] || exit 4
echo "result rate=2.5"
"""
HEDDLE = """#!/bin/sh
[ "$2" = --knobs ] && echo "HEDDLE_LOCK choice" || echo "  library        $0"
"""
COMPILER = """#!/bin/sh
echo compile >>"{log}"
for word; do last=$word; done
touch "$last"
"""
LINE = "#!/bin/sh\necho 100\n"

ALL = Series("all", who=Who.ALL)
RATE = Metric("rate", "rate", "M/s", Result("rate"))


def figure(*series, metrics=(RATE,), words=("--x", "{x}")):
    return Figure("p0-1", "figure 1", "a title", "A summary.", "multirate", "pairs", (1, 2), metrics,
                  series, (), words=words)


class Campaigns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "log"
        several = unittest.mock.patch("laboratory.machine.cores", return_value=2)
        several.start()
        self.addCleanup(several.stop)
        self.settings = Settings(turns=2, tries=1, limit_s=60)
        self.line = self.script("line", LINE)
        self.everyone = [self.contestant("heddle"), self.contestant("mpich-a")]

    def script(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{log}", str(self.log)))
        path.chmod(0o755)
        return path

    def contestant(self, name):
        for command, text in (("mpiexec", MPIEXEC), ("heddle", HEDDLE), ("mpicc", COMPILER),
                              ("mpicxx", COMPILER)):
            self.script(f"{name}/bin/{command}", text)
        return contestants.named(f"{name}={self.folder / name}", "yield", self.folder / "programs")

    def store(self, chosen):
        return Store(self.folder / "points", chosen.id,
                     configuration(chosen, self.everyone, self.settings))

    def measure(self, chosen):
        """Measures a figure. Returns the calls that were made, and the messages."""
        self.log.write_text("")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            plan = Plan(chosen, self.everyone, self.settings, self.store(chosen))
            Campaign(Machine(self.line, self.settings.tries), self.settings).run([plan])
        calls = [line for line in self.log.read_text().splitlines() if line != "compile"]
        return calls, said.getvalue()

    def test_contestants_take_turns(self):
        calls, _ = self.measure(figure(ALL))
        turn = ["heddle -n 2 multirate --x 1", "mpich-a -n 2 multirate --x 1",
                "heddle -n 2 multirate --x 2", "mpich-a -n 2 multirate --x 2"]
        self.assertEqual(calls, turn + turn)
        self.assertEqual({(p.turn, p.regime, p.values["rate"]) for p in self.store(figure(ALL)).read()},
                         {(1, "near", 2.5), (2, "near", 2.5)})

    def test_what_is_there_is_not_measured_again(self):
        calls, _ = self.measure(figure(ALL))
        store = self.store(figure(ALL))
        lines = store.path.read_text().splitlines(keepends=True)
        store.path.write_text("".join(lines[:4]) + lines[4][:9])
        again, _ = self.measure(figure(ALL))
        self.assertEqual(again, calls[3:])
        self.assertEqual(self.measure(figure(ALL))[0], [])

    def test_more_turns_add_to_what_is_there(self):
        self.measure(figure(ALL))
        self.settings = Settings(turns=3, tries=1, limit_s=60)
        self.assertEqual(len(self.measure(figure(ALL))[0]), 4)

    def test_another_configuration_is_measured_anew(self):
        self.measure(figure(ALL))
        for change in (lambda: self.script("heddle/bin/heddle", HEDDLE + "# another build\n"),
                       lambda: self.everyone.append(self.contestant("openmpi-b"))):
            change()
            self.assertEqual(len(self.measure(figure(ALL))[0]), 4 * len(self.everyone))
        self.assertEqual(len(self.measure(figure(ALL, words=("--y", "{x}")))[0]), 12)

    def test_programs_are_built_once(self):
        self.measure(figure(ALL))
        self.assertEqual(self.everyone[0].program("multirate"), self.folder / "programs/heddle/multirate")
        self.assertNotIn("compile", self.log.read_text().splitlines()[3:])

    def test_ranks_by_x_and_recipes_for_heddle_alone(self):
        series = Series("processes", ranks=1, ranks_per_x=2, environment={"HEDDLE_LOCK": "mcs"})
        calls, _ = self.measure(figure(series))
        self.assertEqual(calls[:2], ["heddle -n 3 multirate --x 1", "heddle -n 5 multirate --x 2"])

    def test_series_on_several_hosts(self):
        tool = self.script("tool", f'#!/bin/sh\necho "hosts $1 ${{10}} ${{11}}" >>{self.log}\necho result rate=2.5\n')
        for name, value in (("problem", lambda folder: ""), ("TOOL", tool)):
            replaced = unittest.mock.patch(f"laboratory.hosts.{name}", value)
            replaced.start()
            self.addCleanup(replaced.stop)
        chosen = figure(Series("two hosts", who=Who.ALL, ranks=4, hosts=2))
        with unittest.mock.patch("shutil.which", return_value=None):
            calls, said = self.measure(chosen)
        self.assertEqual(calls, [])
        self.assertIn("heddle on several hosts needs mpiexec.hydra", said)
        self.script("mpich-a/bin/mpiexec.hydra", MPIEXEC)
        contestants.lend_hydra(self.everyone)
        calls, said = self.measure(chosen)
        self.assertEqual((calls, "needs" in said), (["hosts 2 -n 4"] * 8, False))

    def test_an_unknown_knob_is_reported_and_stops_nothing(self):
        chosen = figure(Series("new", environment={"HEDDLE_NEW": "1"}), ALL)
        for _ in range(2):
            calls, said = self.measure(chosen)
            self.assertIn("not measured: unknown knob HEDDLE_NEW: heddle, new", said)
        self.assertEqual(calls, [])
        problems = [p for p in self.store(chosen).read() if p.problem]
        self.assertEqual([p.turn for p in problems], [SERIES_AS_A_WHOLE])
        self.assertEqual(summarise(chosen, self.store(chosen)).problems,
                         {"unknown knob HEDDLE_NEW": ["heddle, new"]})

    def test_a_refused_value_is_tried_once(self):
        calls, said = self.measure(figure(Series("bad", environment={"HEDDLE_LOCK": "bad"}), ALL))
        self.assertEqual(len(calls), 1 + 8)
        self.assertIn("HEDDLE_LOCK=bad: allowed are mutex", said)

    def test_a_failing_point_is_not_tried_in_later_turns(self):
        calls, said = self.measure(figure(Series("s", ("--fails", "{x}"), who=Who.HEDDLE)))
        self.assertEqual([call[-1] for call in calls], ["1", "2", "1"])
        self.assertIn("exit 3: this went wrong", said)

    def test_counters_are_asked_for(self):
        metric = Metric("searches", "searches", "", Counter("searches"))
        chosen = figure(ALL, metrics=(RATE, metric))
        self.measure(chosen)
        values = {p.place.contestant: dict(p.values) for p in self.store(chosen).read()}
        self.assertEqual(values, {"heddle": {"rate": 2.5, "searches": 7}, "mpich-a": {"rate": 2.5}})

    def test_variables_of_the_user_are_no_part_of_a_recipe(self):
        with unittest.mock.patch.dict("os.environ", {"HEDDLE_STRANGER": "1"}):
            self.measure(figure(ALL))
        self.assertFalse(any(p.problem for p in self.store(figure(ALL)).read()))

    def test_what_has_no_sample_in_the_regime_of_the_others_is_measured_again(self):
        # The line is near before and after the very first run, and far from then on.
        self.line = self.script("line", LINE.replace("echo 100", f"""
            echo x >>{self.folder}/looks
            [ $(wc -l <{self.folder}/looks) -le 2 ] && echo 100 || echo 900"""))
        self.settings = Settings(turns=1, tries=1, limit_s=60)
        calls, _ = self.measure(figure(ALL))
        self.assertEqual(calls[4:], calls[:1])
        summary = summarise(figure(ALL), self.store(figure(ALL)))
        self.assertIn("Regime far, 4 of 5 figures, at least 1 each", summary.notes["rate"])


class Peers(unittest.TestCase):
    def test_specifications_that_are_none(self):
        for spec in ("mpich", "=/usr", "mpich=", "lam=/usr", "mpich/x=/usr", "mpich=/nowhere"):
            with self.assertRaises(contestants.Unusable):
                contestants.named(spec, "yield", pathlib.Path("/nowhere"))


if __name__ == "__main__":
    unittest.main()
