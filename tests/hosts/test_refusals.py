# SPDX-License-Identifier: BSD-3-Clause
"""Jobs whose hosts are set up in different ways: they end, and an error says what differs."""

import os
import unittest

import hosts

MESSAGES = os.environ["MESSAGES"]
EACH = 2
LAUNCHERS = ("hydra", "prterun")


def with_variable_on_node2(launcher, variable):
    script = f'[ $(hostname) = node1 ] || export {variable}; exec {MESSAGES} all'
    return hosts.run(2, f"{hosts.LAUNCHERS[launcher](2, EACH)} sh -c '{script}'")


class Refusals(unittest.TestCase):
    def assert_refused(self, variable, *reasons):
        for launcher in LAUNCHERS:
            ended = with_variable_on_node2(launcher, variable)
            self.assertNotEqual(ended.code, 0, ended)
            for reason in reasons:
                self.assertRegex(ended.out + ended.err, reason, ended)
            self.assertNotIn("has done all", ended.out, ended)
            self.assertNotIn("left behind", ended.err, ended)

    def test_another_number_of_instances(self):
        self.assert_refused("HEDDLE_INSTANCES=4", r"rank \d: lost rank \d: it has HEDDLE_INSTANCES=\w+ .*this process "
                            r"HEDDLE_INSTANCES=\w+ .*all ranks must have the same")

    def test_another_algorithm(self):
        self.assert_refused("HEDDLE_COLL_ALLREDUCE=scattered", r"HEDDLE_COLL_ALLREDUCE=scattered.*all ranks must have the same")

    def test_a_recipe_of_the_laboratory(self):
        self.assert_refused("HEDDLE_CRITICAL_SECTION=global",
                            "recipes other than the default one are for ranks of one host, and these are on several")

    def test_a_provider_that_is_not_there(self):
        self.assert_refused("HEDDLE_FABRIC=carrier-pigeon", r"HEDDLE_FABRIC=carrier-pigeon: there is no such fabric; there are: \w+")

    def test_an_interface_that_is_not_there(self):
        self.assert_refused("HEDDLE_INTERFACE=eth7", r"HEDDLE_INTERFACE=eth7: there is no such interface; there are: .*\beth0\b")


if __name__ == "__main__":
    hosts.main()
