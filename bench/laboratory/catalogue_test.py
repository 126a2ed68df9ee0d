# SPDX-License-Identifier: BSD-3-Clause
import unittest

from laboratory import catalogue
from laboratory.campaign import Settings, xs_of
from laboratory.machine import cores


class Catalogue(unittest.TestCase):
    def setUp(self):
        self.papers = catalogue.papers()

    def ids(self, figures, papers=()):
        return [figure.id for figure in catalogue.choose(self.papers, figures, papers)]

    def test_every_figure_has_an_id_of_its_own(self):
        ids = [figure.id for paper in self.papers for figure in paper.figures]
        self.assertEqual(len(ids), len(set(ids)))

    def test_chooses_in_the_papers_order_and_each_once(self):
        self.assertEqual(self.ids(["p1-3c", "p1-3a", "p1-3c"]), ["p1-3a", "p1-3c"])

    def test_a_number_stands_for_its_parts(self):
        self.assertEqual(self.ids(["p1-3"]), ["p1-3a", "p1-3b", "p1-3c"])
        self.assertEqual(self.ids(["p1-5"]), ["p1-5"])

    def test_a_paper_stands_for_its_figures(self):
        paper = self.papers[0]
        self.assertEqual(self.ids([], [paper.id]), [figure.id for figure in paper.figures])

    def test_unknown_names_are_told(self):
        for figures, papers in ((["p1-99"], []), (["p"], []), ([""], []), ([], ["p0"])):
            with self.assertRaises(catalogue.Unknown):
                self.ids(figures, papers)

    def test_xs_follow_the_cores_unless_told_otherwise(self):
        figure = catalogue.choose(self.papers, ["p1-3a"], [])[0]
        self.assertLessEqual(max(xs_of(figure, Settings())), max(8, 2 * cores()))
        self.assertEqual(xs_of(figure, Settings(up_to=20))[-1], 20)
        self.assertEqual(xs_of(figure, Settings(up_to=20, points=2)), list(figure.xs[:2]))
        self.assertEqual(xs_of(figure, Settings(only_xs=("3", "64"), points=1)), [3, 64])


if __name__ == "__main__":
    unittest.main()
