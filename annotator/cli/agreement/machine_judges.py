"""`annotator agreement machines show`: labels of machine judges compared with people's grades."""

from collections.abc import Callable, Iterator
from dataclasses import asdict

import click

from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.options import topics_option
from annotator.cli.site.tables import (
    REASONS,
    Row,
    by_measures,
    format_option,
    in_one_cell,
    reasons_of,
    say_by_measure,
    show_by_measure,
    show_rows_with_reasons,
)
from annotator.evaluation.agreement.machine_agreement import MachineBeside
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.workflows.agreement.machine_judges import MachineReport, MachineReports, machine_reports

SETTLED = "(settled)"  # cannot collide with an account, whose name has no brackets


@click.group("machines")
def machines() -> None:
    """Agreement between machines and people."""


@machines.command("show")
@click.argument("slug")
@by_measures(USUAL_MEASURE, "The measure that ranks the runs")
@topics_option
@click.option("--shared", "only_shared", is_flag=True, help="Only documents that at least two people have graded.")
@click.option(
    "--by",
    type=click.Choice(["machine", "judge", "grade", "outside"]),
    default="machine",
    show_default=True,
    help=(
        "One table of the report: compared with the settled grades of people, with each judge, by grade, or labels "
        "outside the scale."
    ),
)
@format_option()
@on_installation
def show_machines(
    installation: Installation,
    slug: str,
    measures: tuple[str, ...],
    topics: tuple[str, ...],
    by: str,
    format_: str,
    *,
    only_shared: bool,
) -> None:
    """Compare each machine with people: kappa, quadratic kappa, mean difference, and the ranking of the runs.

    `more` is the mean difference, the machine's grade minus the other one; tau compares the runs ranked by the
    machine's labels with those ranked by the settled grades of people, on the documents that both have. LOW and HIGH
    are the 95 % confidence interval of kappa by topics; the analytic bounds assume independent documents.
    """
    with installation.database.reading() as session:
        found = [
            machine_reports(session, slug, measure, topics or None, only_shared=only_shared) for measure in measures
        ]
    reports = {one.measure: one for one in found}
    headings, rows = TABLES[by]
    show_by_measure(
        format_,
        reports,
        as_json=_as_json,
        as_csv=lambda one: (headings, list(rows(one))),
        tables=lambda one: show_rows_with_reasons(headings, list(rows(one)), names=2 if by == "judge" else 1),
    )
    say_by_measure({measure: map(str, one.notices) for measure, one in reports.items()})


def _of_machines(found: MachineReports) -> Iterator[Row]:
    for report in found.machines:
        alike = report.ranking.similarity if report.ranking else None
        yield [
            *(report.machine.name, report.machine.facts.model, report.labels, len(report.outside)),
            *_beside(report.people),
            *((alike.tau, alike.tau_ap, alike.rbo) if alike else (None, None, None)),
            in_one_cell({**reasons_of(report.people.reasons), **_reasons_of_ranking(report)}),
        ]


def _of_judges(found: MachineReports) -> Iterator[Row]:
    for report in found.machines:
        for name, beside in report.judges:
            yield [report.machine.name, name, *_beside(beside), in_one_cell(reasons_of(beside.reasons))]


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


def _reasons_of_ranking(report: MachineReport) -> dict[str, str]:
    if report.ranking is None:
        return reasons_of(dict.fromkeys(("tau", "tau_ap", "rbo"), report.ranking_reason))
    return reasons_of(report.ranking.similarity.reasons)


def _beside(beside: MachineBeside) -> Row:
    intervals = [
        one.interval or (None, None)
        for one in (beside.by_topics, beside.kappa, beside.quadratic_by_topics, beside.quadratic)
    ]
    by_topics, analytic, quadratic_by_topics, quadratic_analytic = intervals
    kappas = (beside.kappa.value, *by_topics, *analytic)
    quadratics = (beside.quadratic.value, *quadratic_by_topics, *quadratic_analytic)
    return [beside.kappa.n, *kappas, *quadratics, beside.same.value, beside.difference.value]


def _as_json(found: MachineReports) -> dict[str, object]:
    return {
        "measure": found.measure,
        "policy": found.policy,
        "grades": found.grades,
        "tags": found.tags,
        "notices": list(map(str, found.notices)),
        "machines": [
            {
                "name": report.machine.name,
                "model": report.machine.facts.model,
                "prompt": report.machine.facts.prompt,
                "date": report.machine.facts.labelled_on and report.machine.facts.labelled_on.isoformat(),
                "labels": report.labels,
                "outside": [label._asdict() for label in report.outside],
                "people": _beside_as_json(report.people),
                "judges": {name: _beside_as_json(beside) for name, beside in report.judges},
                "ranking": asdict(report.ranking) if report.ranking else None,
                "ranking_reasons": _reasons_of_ranking(report),
            }
            for report in found.machines
        ],
    }


def _beside_as_json(beside: MachineBeside) -> dict[str, object]:
    values = dict(zip(BESIDE, _beside(beside), strict=True))
    return {**values, "confusion": beside.confusion, "reasons": reasons_of(beside.reasons)}


BESIDE = (
    *("n", "kappa", "low", "high", "analytic_low", "analytic_high"),
    *("quadratic", "quadratic_low", "quadratic_high", "quadratic_analytic_low", "quadratic_analytic_high"),
    *("same", "more"),
)
# Headings and rows by value of `--by`.
TABLES: dict[str, tuple[tuple[str, ...], Callable[[MachineReports], Iterator[Row]]]] = {
    "machine": (("machine", "model", "labels", "outside", *BESIDE, "tau", "tau_ap", "rbo", REASONS), _of_machines),
    "judge": (("machine", "judge", *BESIDE, REASONS), _of_judges),
    "grade": (("machine", "judge", "machine_grade", "judge_grade", "documents"), _of_grades),
    "outside": (("machine", "topic", "docno", "label"), _outside),
}
