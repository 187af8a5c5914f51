"""Which runs of a leaderboard differ: stars against a baseline, letters between all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.metrics.means import means as arithmetic_means
from annotator.evaluation.metrics.measures import Better, Measure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.correction import holm
from annotator.evaluation.significance.lettering import letters, stars
from annotator.evaluation.significance.results import Undefined, figure_of
from annotator.evaluation.significance.shared_topics import shared_topics
from annotator.evaluation.significance.t_tests import paired_t
from annotator.evaluation.significance.tukey import tukey_hsd


@dataclass(frozen=True)
class Marked:
    """A run against the baseline: p, None where none was asked for, and stars after a + for more or a - for less."""

    p: Figure | None
    stars: str


def against_baseline(scores: Values, measure: Measure, baseline: int | None) -> list[Marked]:
    """Test every run, (runs, topics), against the one at this place: paired t, two-sided, by Holm corrected for all.

    The baseline itself has no difference and counts as no test. A measure that is no merit is not tested: a run is no
    better for having more of its documents judged.
    """
    if baseline is None or not measure.definition.is_merit:
        return [Marked(None, "")] * len(scores)
    shared = shared_topics(scores)
    differences = shared.scores - shared.scores[baseline]
    differences[np.abs(differences) <= shared.least_spread] = 0
    tests = paired_t(differences, shared.least_spread)
    rows = zip(holm(tests.p).tolist(), tests.reasons.tolist(), tests.difference.tolist(), strict=True)
    figures = [(figure_of(p, code), difference) for p, code, difference in rows]
    return [
        Marked(figure, ("+" if difference > 0 else "-") + marks if (marks := stars(figure)) else "")
        for figure, difference in figures
    ]


def common_letters(scores: Values, measure: Measure, *, wanted: bool) -> tuple[Sequence[str], Undefined | None]:
    """The letters of every run by Tukey's test, the best run's first; none where there is no test.

    That is for a measure that is no merit, and for one whose mean over topics is not the arithmetic one.
    """
    definition = measure.definition
    if not wanted or not definition.is_merit or definition.over_topics is not arithmetic_means:
        return [""] * len(scores), None
    test = tukey_hsd(scores)
    sign = -1 if definition.better is Better.LESS else 1
    found = letters(sign * test.means, test.p)
    return found.of_runs, found.reason
