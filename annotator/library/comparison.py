"""Runs compared with a baseline by tests paired by topic."""

from dataclasses import dataclass
from typing import Any

from annotator.errors import InvalidValueError
from annotator.evaluation.significance.comparisons import BaselineComparison, compare_with_baseline
from annotator.library.inputs import Given
from annotator.library.scores import evaluate
from annotator.library.tables import Table


@dataclass(frozen=True, repr=False)
class Comparison(Table):
    """A row for each measure and run beside the baseline: means, difference, and p of tests paired by topic.

    `p_t` is that of Student's t test, `p_t_holm` corrected by Holm for all runs of the measure, `p_random` that of the
    randomisation test, `p_max_t` corrected by MaxT (Westfall and Young 1993).
    """

    tests: tuple[BaselineComparison, ...] = ()  # of each measure


def compare(
    qrels: Given,
    runs: Given,
    measures: Given = "nDCG@10",
    *,
    baseline: str | None = None,
    seed: int = 1,
    **options: Any,  # noqa: ANN401 - as of `evaluate`
) -> Comparison:
    """Compare runs with a baseline, the first run unless one is named, by tests paired by topic.

    Arguments are as of `evaluate`; the seed is that of the randomisation test. Raises `NotFoundError` when the baseline
    is not among the runs, and `InvalidValueError` when there is a single run.
    """
    results = evaluate(qrels, runs, measures, **options)
    names = [str(run) for run in results.column("run")]
    if len(names) == 1:
        raise InvalidValueError("A comparison takes two runs or more; there is only %(run)s.", run=names[0])
    first, scores = baseline or names[0], results.evaluation.scores
    tests = [
        compare_with_baseline(names, scores.values[:, :, place], first, seed=seed)
        for place in range(len(scores.measures))
    ]
    rows = [
        (
            str(measure),
            one.run,
            results.value(one.run, str(measure)),
            one.t.difference.value,
            one.t.p.value,
            one.t_holm.value,
            one.randomised.value,
            one.max_t.value,
        )
        for measure, test in zip(scores.measures, tests, strict=True)
        for one in test.runs
    ]
    return Comparison(
        ("measure", "run", "mean", "difference", "p_t", "p_t_holm", "p_random", "p_max_t"),
        tuple(rows),
        (f"Baseline: {first}", *results.notes),
        tuple(tests),
    )
