"""`annotator agreement machines show`: labels of machine judges compared with people's grades."""

from dataclasses import asdict

import click

from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.options import task_option, topics_option
from annotator.cli.site.tables import (
    by_measures,
    format_option,
    say_by_measure,
    show_by_measure,
    show_rows_with_reasons,
)
from annotator.evaluation.agreement.machine_agreement import MachineBeside
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.spreadsheets import reasons_of
from annotator.workflows.agreement.judge_tables import (
    BESIDE,
    EFFECT,
    MACHINE_TABLES,
    cells_beside,
    cells_of_effect,
    file_of,
    reasons_of_machine,
    reasons_of_ranking,
)
from annotator.workflows.agreement.machine_judges import MachineReport, MachineReports, machine_reports


@click.group("machines")
def machines() -> None:
    """Agreement between machines and people."""


@machines.command("show")
@click.argument("slug")
@by_measures(USUAL_MEASURE, "The measure that ranks the runs")
@topics_option
@task_option
@click.option("--shared", "only_shared", is_flag=True, help="Only documents that at least two people have graded.")
@click.option(
    "--by",
    type=click.Choice(list(MACHINE_TABLES)),
    default="machine",
    show_default=True,
    help=(
        "One table of the report: compared with the settled grades of people, with each judge, by grade, the machines "
        "ranked, pairs of runs that differ significantly, bias by grade of people, calibration, labels of people that "
        "are needed for kappa within a margin, or labels outside the scale."
    ),
)
@format_option()
@on_installation
def show_machines(
    installation: Installation,
    slug: str,
    measures: tuple[str, ...],
    topics: tuple[str, ...],
    task: str | None,
    by: str,
    format_: str,
    *,
    only_shared: bool,
) -> None:
    """Compare each machine with people: kappa, quadratic kappa, mean difference, and the ranking of the runs.

    `more` is the mean difference, the machine's grade minus the other one; tau compares the runs ranked by the
    machine's labels with those ranked by the settled grades of people, on the documents that both have, tau_10 the
    ten best by people. Of the pairs of runs that differ significantly by the machine (paired t, Holm) people do not
    confirm the share `unconfirmed`, and of those by people the machine misses the share `missed`; `top` is the best
    quarter. LOW and HIGH are the 95 % confidence interval of kappa by topics; the analytic bounds assume independent
    documents.
    """
    with installation.database.reading() as session:
        found = [
            machine_reports(session, slug, measure, topics or None, only_shared=only_shared, task=task)
            for measure in measures
        ]
    reports = {one.measure: one for one in found}
    headings, rows = MACHINE_TABLES[by]
    names = 2 if by == "judge" else 1
    show_by_measure(
        format_,
        reports,
        as_json=_as_json,
        as_csv=lambda one: file_of(MACHINE_TABLES[by], one),
        tables=lambda one: show_rows_with_reasons(headings, list(rows(one)), names=names),
    )
    say_by_measure({measure: map(str, one.notices) for measure, one in reports.items()})


def _as_json(found: MachineReports) -> dict[str, object]:
    return {
        "measure": found.measure,
        "policy": found.policy,
        "grades": found.grades,
        "tags": found.tags,
        **({} if found.task is None else {"task": found.task}),
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
                **_checks_as_json(found, report),
                "ranking": asdict(report.ranking) if report.ranking else None,
                "ranking_reasons": reasons_of_ranking(report),
            }
            for report in found.machines
        ],
    }


def _beside_as_json(beside: MachineBeside) -> dict[str, object]:
    values = dict(zip(BESIDE, cells_beside(beside), strict=True))
    return {**values, "confusion": beside.confusion, "reasons": reasons_of(beside.reasons)}


def _checks_as_json(found: MachineReports, report: MachineReport) -> dict[str, object]:
    """What is known of a machine beside its agreement with judges."""
    return {
        "bias": [{"grade": one.grade, "documents": one.documents, "more": one.bias.value} for one in report.bias],
        "calibration": {
            "labels": report.calibration.labels,
            "error": report.calibration.error.value,
            "bins": [asdict(one) for one in report.calibration.bins],
        },
        "weighted_kappa": report.weighted and asdict(report.weighted),
        "needed": [
            {
                "margin": plan.margin,
                "labels": plan.total,
                "by_grade": dict(zip(found.grades, plan.by_grade, strict=True)),
            }
            for plan in report.needed
        ],
        "effect": dict(zip(EFFECT, cells_of_effect(report.effect), strict=True)),
        "declared_by": report.declared_by,
        "reasons": reasons_of_machine(report),
    }
