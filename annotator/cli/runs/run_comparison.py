"""`annotator compare` and `annotator runs compare`: compare two runs, from files or of a collection."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import click

from annotator.cli.runs.common_task import all_tasks_option, refuse_task_and_all
from annotator.cli.site.files import FILE, read_files
from annotator.cli.site.input_files import input_format_option, qrels_format_option, say_formats
from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.options import (
    compat_option,
    is_residual,
    measures_option,
    qrels_option,
    residual_option,
    round_option,
    task_option,
)
from annotator.cli.site.tables import Row, format_option, show_csv, show_json, show_table
from annotator.errors import InvalidValueError
from annotator.evaluation.formats.input_formats import Holds
from annotator.evaluation.inspection.two_runs import PairLook
from annotator.evaluation.metrics.figures import SECOND_MINUS_FIRST
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.workflows.leaderboard.common_task import in_common_task
from annotator.workflows.leaderboard.inspecting import (
    USUAL_SEED,
    USUAL_TOP,
    FilesWanted,
    GradesChosen,
    compare_files,
    inspect_pair,
)

MOST_TOP = 1_000


@dataclass(frozen=True)
class Compared:
    """Two compared runs, the docnos of their documents, and notes on the tables."""

    look: PairLook
    docnos: Mapping[int, str]
    notes: tuple[str, ...]


OPTIONS = (
    measures_option,
    click.option(
        "--by",
        type=click.Choice(["test", "topic", "document"]),
        help="One table of the report: significance tests, differences by topic, or documents by change of rank.",
    ),
    click.option(
        "--topic", "topics", multiple=True, metavar="NUMBER", help="With --by document: only of this topic; repeatable."
    ),
    click.option(
        "--top",
        default=USUAL_TOP,
        show_default=True,
        type=click.IntRange(1, MOST_TOP),
        metavar="RANK",
        help="With --by document: documents down to this rank in either run.",
    ),
    click.option(
        "--seed",
        default=USUAL_SEED,
        show_default=True,
        type=click.IntRange(0),
        metavar="N",
        help="The seed of the randomisation test.",
    ),
    format_option(),
)


@dataclass(frozen=True)
class Look:
    """What is compared of two runs, and how it is shown."""

    measures: Sequence[str]
    by: str | None
    topics: Sequence[str] | None
    top: int
    seed: int
    format_: str


def _describes_look(command: Callable[..., None]) -> Callable[..., None]:
    """Add these options to a command, which gets their values as `look`."""

    @wraps(command)
    def with_look(
        *args: Any,  # noqa: ANN401 - the command's own
        measures: Sequence[str],
        by: str | None,
        topics: Sequence[str],
        top: int,
        seed: int,
        format_: str,
        **options: Any,  # noqa: ANN401 - passed on unchanged
    ) -> None:
        if topics and by != "document":
            raise click.UsageError("--topic goes with --by document.")
        # Documents of all topics or of these; when documents are not shown, as few as possible are looked up.
        looked_up = (topics or None) if by == "document" else ()
        command(*args, look=Look(measures or (USUAL_MEASURE,), by, looked_up, top, seed, format_), **options)

    described: Callable[..., None] = with_look
    for option in reversed(OPTIONS):
        described = option(described)
    return described


@click.command
@click.argument("qrels", type=FILE)
@click.argument("first", type=FILE, metavar="RUN")
@click.argument("second", type=FILE, metavar="RUN")
@_describes_look
@click.option(
    "--relevant-from",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="GRADE",
    help="The least relevant grade.",
)
@compat_option
@input_format_option(Holds.RUNS)
@qrels_format_option
def command(
    qrels: str,
    first: str,
    second: str,
    relevant_from: int,
    compat: str,
    input_format: str | None,
    qrels_format: str | None,
    *,
    look: Look,
) -> None:
    """Compare two run files, by a file of qrels; no database is needed.

    Differences are the second run minus the first, over all topics with a grade. For each measure there is a paired t
    test with the 95 % interval and the effect size d_z, a randomisation test, Wilcoxon's test as R computes it, and the
    sign test. Without --by a table shows tests and topics, csv the tests; json has both, and documents with --by
    document. `annotator runs compare` compares two runs of a collection.
    """
    given_qrels, *given = read_files((qrels, first, second))
    say_formats(Holds.LABELS, [(given_qrels.name, given_qrels.content)], qrels_format)
    say_formats(Holds.RUNS, [(file.name, file.content) for file in given], input_format)
    given_qrels = replace(given_qrels, input_format=qrels_format)
    given_first, given_second = (replace(file, input_format=input_format) for file in given)
    wanted = FilesWanted(look.measures, relevant_from, look.seed, look.top, look.topics, compat)
    compared = compare_files(given_qrels, given_first, given_second, wanted)
    source = f"Over all topics of {compared.qrels}, as trec_eval {compat} -c: {len(compared.topics)}."
    _show(Compared(compared.look, compared.docnos, (source, *compared.warnings)), look)


@click.command("compare")
@click.argument("slug")
@click.argument("first", metavar="TAG")
@click.argument("second", metavar="TAG")
@_describes_look
@qrels_option
@round_option
@residual_option
@task_option
@all_tasks_option
@on_installation
def compare(
    installation: Installation,
    slug: str,
    first: str,
    second: str,
    qrels: str,
    round_number: int | None,
    task: str | None,
    *,
    residual: bool | None,
    all_tasks: bool,
    look: Look,
) -> None:
    """Compare two runs of a collection, in the task to which both belong where it has tasks.

    Differences are the second run minus the first; the tests are those of `annotator compare`, which compares files.
    """
    refuse_task_and_all(task, all_tasks=all_tasks)
    is_rest = is_residual(round_number, residual=residual)
    wanted = GradesChosen(qrels, round=round_number, residual=is_rest, task=task)
    with installation.database.reading() as session:
        try:
            grades = in_common_task(session, slug, first, second, wanted, all_tasks=all_tasks)
        except InvalidValueError as wrong:
            raise click.UsageError(str(wrong)) from wrong
        found = inspect_pair(
            *(session, slug, first, second),
            measures=look.measures,
            topics=None if look.topics is None else list(look.topics),
            top=look.top,
            seed=look.seed,
            grades=grades,
        )
    state = found.choices.state
    source = (
        f"Qrels: {state.named} settled by {state.policy}, {state.grades} grades, fingerprint {state.fingerprint}; "
        f"relevant from {state.relevant_from}. Topics: {state.topics} scored, "
        f"{state.topics_left_out} without a grade left out."
    )
    pair = found.look if look.by == "document" else replace(found.look, moved=())
    _show(Compared(pair, found.docnos, (source, *map(str, found.choices.notices))), look)


def _show(compared: Compared, shown: Look) -> None:
    match shown.format_:
        case "json":
            show_json(_as_json(compared))
        case "csv":
            headings, rows = TABLES[shown.by or "test"]
            show_csv(headings, list(rows(compared)))
        case _:
            for place, name in enumerate([shown.by] if shown.by else ["test", "topic"]):
                if place:
                    click.echo()
                headings, rows = TABLES[name]
                show_table([heading.upper() for heading in headings], list(rows(compared)))
    for note in _notes(compared):
        click.echo(note, err=True)


def _notes(compared: Compared) -> Iterator[str]:
    look = compared.look
    yield f"Every difference is {look.second} less {look.first}."
    yield from compared.notes
    yield f"Judged@10: {look.first} {look.first_judged:.4f}, {look.second} {look.second_judged:.4f}."
    for one in look.by_measure:
        test = one.tests.randomisation
        drawn = "all there are" if test.is_exact else f"drawn with seed {test.seed}"
        reason = one.tests.t.p.reason
        if test.p.value is not None:
            yield f"{one.measure}, randomisation: {test.flips} flips of signs, {drawn}."
        if reason is not None:
            yield f"{one.measure}: {reason.sentence}"


def _tests(compared: Compared) -> Iterator[Row]:
    look = compared.look
    for one in look.by_measure:
        tests = one.tests
        low, high = tests.t.interval.bounds or (None, None)
        figures = (tests.t.statistic, tests.t.p, tests.randomisation.p, tests.signed_ranks.p, tests.signs.p)
        values = [figure.value for figure in figures]
        difference, effect = tests.t.difference.value, tests.t.effect_size.value
        yield [one.measure, tests.topics, one.first, one.second, difference, low, high, effect, *values]


def _topics(compared: Compared) -> Iterator[Row]:
    for one in compared.look.by_measure:
        for topic in one.differences.topics:
            yield [one.measure, topic.topic, topic.first, topic.second, topic.difference]


def _documents(compared: Compared) -> Iterator[Row]:
    for moved in compared.look.moved:
        for one in moved.documents:
            docno = compared.docnos[one.document]
            yield [moved.topic, docno, one.grade, one.first_rank, one.second_rank, one.gap]


def _as_json(compared: Compared) -> dict[str, object]:
    look = compared.look
    runs = {"first": look.first, "second": look.second}
    judged = {"first_judged": look.first_judged, "second_judged": look.second_judged}
    tables: dict[str, object] = {
        f"{name}s": [dict(zip(headings, row, strict=True)) for row in rows(compared)]
        for name, (headings, rows) in TABLES.items()
        if name != "document" or look.moved
    }
    why_not = {one.measure: str(reason.sentence) for one in look.by_measure if (reason := one.tests.t.p.reason)}
    return {**runs, **judged, **tables, "not_defined": why_not, "notes": compared.notes}


# Headings and rows by value of `--by`.
TABLES: dict[str, tuple[tuple[str, ...], Callable[[Compared], Iterator[Row]]]] = {
    "test": (
        (
            *("measure", "topics", "first", "second", SECOND_MINUS_FIRST, "low", "high", "effect_size"),
            *("t", "p_t", "p_randomisation", "p_wilcoxon", "p_signs"),
        ),
        _tests,
    ),
    "topic": (("measure", "topic", "first", "second", SECOND_MINUS_FIRST), _topics),
    "document": (("topic", "docno", "grade", "first_rank", "second_rank", SECOND_MINUS_FIRST), _documents),
}
