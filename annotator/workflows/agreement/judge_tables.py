"""Tables of the effect of judges on the ranking of runs, and of machine judges beside people."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from annotator.errors import Sentence
from annotator.evaluation.agreement.judge_effect import Comparison
from annotator.evaluation.agreement.machine_agreement import MachineBeside
from annotator.evaluation.agreement.machine_ranking import TOPS, MachineRanking
from annotator.spreadsheets import REASONS, in_one_cell, reasons_of
from annotator.workflows.agreement.judge_effect import JudgeEffect
from annotator.workflows.agreement.machine_judges import MachineReport, MachineReports

Row = Sequence[str | int | float | None]
Found = TypeVar("Found", bound=JudgeEffect | MachineReports)
Table = tuple[tuple[str, ...], Callable[[Found], Iterator[Row]]]
SETTLED = "(settled)"  # cannot collide with an account, whose name has no brackets
ALIKE = ("tau", "tau_ap", "rbo", "swaps", REASONS)


def file_of(table: Table[Found], found: Found) -> tuple[tuple[str, ...], list[Row]]:
    """Headings and rows of a table of a report, with the task, if there is one, in every row."""
    headings, rows = table
    if found.task is None:
        return headings, list(rows(found))
    return (*headings, "task"), [[*row, found.task] for row in rows(found)]


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


def _ranked(found: MachineReports) -> Iterator[Row]:
    for place, report in found.best_first():
        beside, similarity = report.people, report.ranking.similarity if report.ranking else None
        low, high = beside.by_topics.interval or (None, None)
        yield [
            *(report.machine.name, report.machine.facts.model, place, beside.kappa.n, beside.kappa.value, low, high),
            *(beside.difference.value, report.calibration.error.value),
            *((similarity.tau, similarity.tau_ap) if similarity else (None, None)),
            *cells_of_effect(report.effect),
            " ".join(report.declared_by) or None,
            in_one_cell(reasons_of_machine(report)),
        ]


def _of_pairs_of_runs(found: MachineReports) -> Iterator[Row]:
    for report in found.machines:
        effect = report.effect
        for name, pairs in (("all", effect.all_runs), ("top", effect.top_runs)) if effect else ():
            counts = (pairs.by_machine, pairs.by_people, pairs.both, pairs.opposite)
            shares = (pairs.unconfirmed.value, pairs.missed.value)
            yield [report.machine.name, name, pairs.runs, pairs.pairs, *counts, *shares]


def _biases(found: MachineReports) -> Iterator[Row]:
    for report in found.machines:
        for one in report.bias:
            yield [report.machine.name, one.grade, one.documents, one.bias.value]


def _calibrations(found: MachineReports) -> Iterator[Row]:
    for report in found.machines:
        for one in report.calibration.bins:
            yield [report.machine.name, one.low, one.high, one.labels, one.confidence, one.right]


def _needed(found: MachineReports) -> Iterator[Row]:
    for report in found.machines:
        for plan in report.needed:
            for grade, documents, labels in zip(found.grades, report.by_grade, plan.by_grade, strict=True):
                yield [report.machine.name, plan.margin, grade, documents, labels]
            yield [report.machine.name, plan.margin, None, sum(report.by_grade), plan.total]


def cells_of_effect(effect: MachineRanking | None) -> Row:
    """The cells under `EFFECT`."""
    if effect is None:
        return [None] * len(EFFECT)
    pairs = effect.all_runs, effect.top_runs
    shares = [share.value for one in pairs for share in (one.unconfirmed, one.missed)]
    return [*(effect.taus[number].value for number in TOPS), *shares]


def reasons_of_machine(report: MachineReport) -> dict[str, str]:
    """Why values of a row of the ranked machines are missing, by heading."""
    beside = {name: report.people.reasons[name] for name in ("kappa", "low", "high", "more")}
    error = report.calibration.error.reason
    effect: Mapping[str, Sentence | None]
    effect = report.effect.reasons if report.effect else dict.fromkeys(EFFECT, report.ranking_reason)
    reasons = {**beside, "calibration_error": error.sentence if error else None, **effect}
    alike = {name: reason for name, reason in reasons_of_ranking(report).items() if name != "rbo"}
    return {**reasons_of(reasons), **alike}


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


EFFECT = (*(f"tau_{number}" for number in TOPS), "unconfirmed", "missed", "unconfirmed_top", "missed_top")
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
    "ranked": (
        (
            *("machine", "model", "place", "n", "kappa", "low", "high", "more", "calibration_error", "tau", "tau_ap"),
            *(*EFFECT, "declared_by", REASONS),
        ),
        _ranked,
    ),
    "pairs": (
        ("machine", "of", "runs", "pairs", "by_machine", "by_people", "both", "opposite", "unconfirmed", "missed"),
        _of_pairs_of_runs,
    ),
    "bias": (("machine", "grade", "documents", "more"), _biases),
    "calibration": (("machine", "from", "to", "labels", "confidence", "right"), _calibrations),
    "needed": (("machine", "margin", "machine_grade", "documents", "labels"), _needed),
    "outside": (("machine", "topic", "docno", "label"), _outside),
}
