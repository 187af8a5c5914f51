"""Tables of the effect of judges on the ranking of runs, and of machine judges beside people."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from annotator.evaluation.agreement.judge_effect import Comparison
from annotator.evaluation.agreement.machine_agreement import MachineBeside
from annotator.spreadsheets import REASONS, in_one_cell, reasons_of
from annotator.workflows.agreement.judge_effect import JudgeEffect
from annotator.workflows.agreement.machine_judges import MachineReport, MachineReports

Row = Sequence[str | int | float | None]
SETTLED = "(settled)"  # cannot collide with an account, whose name has no brackets
ALIKE = ("tau", "tau_ap", "rbo", "swaps", REASONS)


def _alike(comparison: Comparison) -> Row:
    alike = comparison.similarity
    return [alike.tau, alike.tau_ap, alike.rbo, len(comparison.swaps), in_one_cell(reasons_of(alike.reasons))]


def _of_runs(found: JudgeEffect) -> Iterator[Row]:
    for run in found.mixture.runs if found.mixture else ():
        yield [run.tag, run.mean, run.low, run.high, run.best_place, run.worst_place]


def _of_neighbours(found: JudgeEffect) -> Iterator[Row]:
    for swap in found.mixture.swaps if found.mixture else ():
        yield [swap.upper, swap.lower, swap.share]


def _of_pairs(found: JudgeEffect) -> Iterator[Row]:
    for pair in found.pairs:
        comparison = pair.comparison
        yield [pair.first, pair.second, comparison.documents, comparison.topics, *_alike(comparison)]


def _of_policies(found: JudgeEffect) -> Iterator[Row]:
    for policy in found.policies:
        yield [found.own_policy, policy.policy, policy.differing, *_alike(policy.comparison)]


# Headings and rows by name.
EFFECT_TABLES: Mapping[str, tuple[tuple[str, ...], Callable[[JudgeEffect], Iterator[Row]]]] = {
    "run": (("run", "mean", "low", "high", "best_place", "worst_place"), _of_runs),
    "neighbours": (("upper", "lower", "swapped"), _of_neighbours),
    "pair": (("first", "second", "documents", "topics", *ALIKE), _of_pairs),
    "policy": (("own", "other", "grades_changed", *ALIKE), _of_policies),
}


def _of_machines(found: MachineReports) -> Iterator[Row]:
    for report in found.machines:
        alike = report.ranking.similarity if report.ranking else None
        yield [
            *(report.machine.name, report.machine.facts.model, report.labels, len(report.outside)),
            *cells_beside(report.people),
            *((alike.tau, alike.tau_ap, alike.rbo) if alike else (None, None, None)),
            in_one_cell({**reasons_of(report.people.reasons), **reasons_of_ranking(report)}),
        ]


def _of_judges(found: MachineReports) -> Iterator[Row]:
    for report in found.machines:
        for name, beside in report.judges:
            yield [report.machine.name, name, *cells_beside(beside), in_one_cell(reasons_of(beside.reasons))]


def _of_grades(found: MachineReports) -> Iterator[Row]:
    for report in found.machines:
        for name, beside in ((SETTLED, report.people), *report.judges):
            for grade, row in zip(found.grades, beside.confusion, strict=True):
                for other, count in zip(found.grades, row, strict=True):
                    yield [report.machine.name, name, grade, other, count]


def _outside(found: MachineReports) -> Iterator[Row]:
    for report in found.machines:
        for label in report.outside:
            yield [label.machine, label.topic, label.docno, label.label]


def reasons_of_ranking(report: MachineReport) -> dict[str, str]:
    """Why coefficients of the ranking are missing, by name."""
    if report.ranking is None:
        return reasons_of(dict.fromkeys(("tau", "tau_ap", "rbo"), report.ranking_reason))
    return reasons_of(report.ranking.similarity.reasons)


def cells_beside(beside: MachineBeside) -> Row:
    """The cells under `BESIDE`."""
    intervals = [
        one.interval or (None, None)
        for one in (beside.by_topics, beside.kappa, beside.quadratic_by_topics, beside.quadratic)
    ]
    by_topics, analytic, quadratic_by_topics, quadratic_analytic = intervals
    kappas = (beside.kappa.value, *by_topics, *analytic)
    quadratics = (beside.quadratic.value, *quadratic_by_topics, *quadratic_analytic)
    return [beside.kappa.n, *kappas, *quadratics, beside.same.value, beside.difference.value]


BESIDE = (
    *("n", "kappa", "low", "high", "analytic_low", "analytic_high"),
    *("quadratic", "quadratic_low", "quadratic_high", "quadratic_analytic_low", "quadratic_analytic_high"),
    *("same", "more"),
)
# Headings and rows by name.
MACHINE_TABLES: Mapping[str, tuple[tuple[str, ...], Callable[[MachineReports], Iterator[Row]]]] = {
    "machine": (("machine", "model", "labels", "outside", *BESIDE, "tau", "tau_ap", "rbo", REASONS), _of_machines),
    "judge": (("machine", "judge", *BESIDE, REASONS), _of_judges),
    "grade": (("machine", "judge", "machine_grade", "judge_grade", "documents"), _of_grades),
    "outside": (("machine", "topic", "docno", "label"), _outside),
}
