"""`annotator --site URL runs compare`: compare two runs of a collection on a site."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from importlib import import_module
from typing import Any

import click

from annotator.cli.remote.site import on_site
from annotator.cli.runs.common_task import all_tasks_option, refuse_task_and_all
from annotator.cli.site.options import measures_option, query_of_scope, residual_option, round_option, task_option
from annotator.cli.site.tables import Row, format_option, show_csv, show_json, show_table
from annotator.client import Site
from annotator.client.site import SiteError, in_path

MEASURE, DIFFERENCE = "measure", "second_minus_first"
FIGURES = (DIFFERENCE, "low", "high", "effect_size", "t", "p_t", "p_randomisation", "p_wilcoxon", "p_signs")
# The columns of each table after the measure, as `annotator compare` names them, with their names in the API.
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "test": {
        "topics": "topics",
        "first": "first_mean",
        "second": "second_mean",
        **dict(zip(FIGURES, FIGURES, strict=True)),
    },
    "topic": {name: name for name in ("topic", "first", "second", DIFFERENCE)},
}


@click.command("compare")
@click.argument("slug")
@click.argument("first", metavar="TAG")
@click.argument("second", metavar="TAG")
@click.option("--own", is_flag=True, help="Two runs of your team, by their released scores: for participants.")
@measures_option
@click.option(
    "--by",
    type=click.Choice(list(COLUMNS)),
    help="One table of the report: significance tests, or differences by topic.",
)
@click.option(
    "--seed",
    default=1,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="The seed of the randomisation test.",
)
@round_option
@residual_option
@task_option
@all_tasks_option
@format_option()
@on_site
def compare(
    site: Site,
    slug: str,
    first: str,
    second: str,
    measures: Sequence[str],
    by: str | None,
    seed: int,
    round_number: int | None,
    task: str | None,
    format_: str,
    *,
    residual: bool | None,
    all_tasks: bool,
    own: bool,
) -> None:
    """Compare two runs on a site, in the task to which both belong; participants two of their team, with --own.

    Differences are the second run minus the first; the tests are those of `annotator compare`, which compares files.
    Without --by a table shows tests and topics, csv the tests; json has both.
    """
    _check_tasks(task, all_tasks=all_tasks, own=own)
    path = f"/collections/{in_path(slug)}/{'scores' if own else 'leaderboard'}/comparison"
    asked = {"first": first, "second": second, "seed": seed, **query_of_scope(round_number, task, residual=residual)}
    if all_tasks:
        asked["all_tasks"] = True
    found = _found(site, path, measures, asked)
    tables = {name: ([MEASURE, *COLUMNS[name]], list(_rows(name, answers))) for name, answers in found.items()}
    notes = list(_grades(found["test"][0]))
    match format_:
        case "json":
            named = {f"{name}s": _objects(*table) for name, table in tables.items()}
            runs = {"first": first, "second": second, **_judged(found["test"])}
            show_json({**runs, **named, "not_defined": _not_defined(found["test"]), "notes": notes})
        case "csv":
            show_csv(*tables[by or "test"])
        case _:
            for place, name in enumerate([by] if by else COLUMNS):
                if place:
                    click.echo()
                headings, rows = tables[name]
                show_table([heading.upper() for heading in headings], rows)
    click.echo(f"Every difference is {second} less {first}.", err=True)
    for note in [*notes, *_tests(first, second, seed, found["test"])]:
        click.echo(note, err=True)


def _check_tasks(task: str | None, *, all_tasks: bool, own: bool) -> None:
    refuse_task_and_all(task, all_tasks=all_tasks)
    if own and all_tasks:
        raise click.UsageError("The scores of your team are those of one task: --all-tasks does not go with --own.")


def _found(
    site: Site, path: str, measures: Sequence[str], asked: Mapping[str, object]
) -> dict[str, list[Mapping[str, Any]]]:
    """The answers for each table, one for each measure; `UsageError` for runs of different tasks."""
    wanted = _each(measures) or (None,)
    try:
        return {
            name: _by_measure(site.get(path, by=f"{name}s", m=measure, **asked) for measure in wanted)
            for name in COLUMNS
        }
    except SiteError as refusal:
        if refusal.status != HTTPStatus.UNPROCESSABLE_ENTITY:
            raise
        raise click.UsageError(str(refusal)) from refusal


def _each(measures: Sequence[str]) -> tuple[str, ...]:
    """The single measures that the names are for, as one name may be for several; once each."""
    if not measures:
        return ()
    names = import_module("annotator.evaluation.metrics.names")  # loads NumPy, which takes longer than other commands
    return tuple(map(str, names.parse_measures(measures)))


def _by_measure(answers: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The answers, one for each measure: on the scale of a collection two names may be of the same one."""
    found: dict[str, Mapping[str, Any]] = {}
    for answer in answers:
        found.setdefault(answer["about"][MEASURE], answer)
    return list(found.values())


def _rows(name: str, answers: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    for answer in answers:
        for row in answer["rows"]:
            yield [answer["about"][MEASURE], *(row[column] for column in COLUMNS[name].values())]


def _objects(headings: Sequence[str], rows: Sequence[Row]) -> list[dict[str, object]]:
    return [dict(zip(headings, row, strict=True)) for row in rows]


def _judged(answers: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    row = answers[0]["rows"][0]
    return {name: row[name] for name in ("first_judged", "second_judged")}


def _not_defined(answers: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Why there is no test, by measure."""
    about = [answer["about"] for answer in answers]
    return {one[MEASURE]: one["not_defined"] for one in about if one["not_defined"]}


def _grades(answer: Mapping[str, Any]) -> Iterator[str]:
    state = answer["about"]["qrels"]
    named = ", ".join(filter(None, [state["name"], state["task"] and f"task {state['task']}", state["round"]]))
    yield (
        f"Qrels: {named} settled by {state['policy']}, {state['grades']} grades, fingerprint {state['fingerprint']}; "
        f"relevant from {state['relevant_from']}. Topics: {state['topics']} scored, {state['topics_left_out']} without "
        "a grade left out."
    )
    yield from answer["notices"]


def _tests(first: str, second: str, seed: int, answers: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    judged = _judged(answers)
    yield f"Judged@10: {first} {judged['first_judged']:.4f}, {second} {judged['second_judged']:.4f}."
    for answer in answers:
        about, test = answer["about"], answer["about"]["randomisation"]
        drawn = "all there are" if test["is_exact"] else f"drawn with seed {seed}"
        if answer["rows"][0]["p_randomisation"] is not None:
            yield f"{about[MEASURE]}, randomisation: {test['flips']} flips of signs, {drawn}."
        if about["not_defined"]:
            yield f"{about[MEASURE]}: {about['not_defined']}"
