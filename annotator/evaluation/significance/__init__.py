"""Whether runs differ by more than chance: intervals, tests of two runs, of a baseline and of all pairs.

Scores are arrays, (runs, topics), NaN where a run has none; differences are of means over topics. What has no value
says why (`Undefined`); it is never 0, 1 or NaN. What is random takes a seed.
"""

from annotator.evaluation.significance.against_baseline import (
    AgainstBaseline,
    BaselineComparison,
    compare_with_baseline,
)
from annotator.evaluation.significance.all_pairs import PairedTests, paired_tests
from annotator.evaluation.significance.correction import holm
from annotator.evaluation.significance.lettering import Letters, letter, letters, stars
from annotator.evaluation.significance.means import DRAWS, IntervalMethod, RunMean, run_means
from annotator.evaluation.significance.power import (
    POWER,
    TopicsNeeded,
    power_of_paired_t,
    topics_needed,
    topics_to_tell_apart,
)
from annotator.evaluation.significance.ranks_and_signs import SignedRanks, Signs, signed_ranks, signs
from annotator.evaluation.significance.results import ALPHA, PairFigures, Undefined
from annotator.evaluation.significance.sign_flips import FLIPS
from annotator.evaluation.significance.studentised_range import critical_range, studentised_range_p
from annotator.evaluation.significance.t_tests import PairedT, PairedTs, paired_t
from annotator.evaluation.significance.tukey import (
    PERMUTATIONS,
    ModelTukeyTest,
    RandomisedTukeyTest,
    TukeyTest,
    randomised_tukey_hsd,
    steps_of_permuting,
    tukey_hsd,
)
from annotator.evaluation.significance.two_runs import Randomisation, TwoRuns, compare_two_runs
from annotator.evaluation.significance.variance import (
    Component,
    VarianceShares,
    deviation_of_differences,
    variance_shares,
)

__all__ = [
    "ALPHA",
    "DRAWS",
    "FLIPS",
    "PERMUTATIONS",
    "POWER",
    "AgainstBaseline",
    "BaselineComparison",
    "Component",
    "IntervalMethod",
    "Letters",
    "ModelTukeyTest",
    "PairFigures",
    "PairedT",
    "PairedTests",
    "PairedTs",
    "Randomisation",
    "RandomisedTukeyTest",
    "RunMean",
    "SignedRanks",
    "Signs",
    "TopicsNeeded",
    "TukeyTest",
    "TwoRuns",
    "Undefined",
    "VarianceShares",
    "compare_two_runs",
    "compare_with_baseline",
    "critical_range",
    "deviation_of_differences",
    "holm",
    "letter",
    "letters",
    "paired_t",
    "paired_tests",
    "power_of_paired_t",
    "randomised_tukey_hsd",
    "run_means",
    "signed_ranks",
    "signs",
    "stars",
    "steps_of_permuting",
    "studentised_range_p",
    "topics_needed",
    "topics_to_tell_apart",
    "tukey_hsd",
    "variance_shares",
]
