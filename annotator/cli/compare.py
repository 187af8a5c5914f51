"""`annotator compare`: two runs beside each other, from files or of a collection."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import click

from annotator.cli.argument_text import FILE
from annotator.cli.input_files import read_files
from annotator.cli.installation import Installation, on_installation
from annotator.cli.tables import Row, show_csv, show_json, show_table
from annotator.workflows.inspecting import (
    LIVE,
    USUAL_MEASURE,
    USUAL_SEED,
    USUAL_TOP,
    GradesChosen,
    PairLook,
    inspect_pair,
)
from annotator.workflows.inspecting_files import USUAL_COMPAT, FilesWanted, compare_files

MOST_TOP = 1_000
FROM_FILES, FROM_COLLECTION = 3, 2  # so many arguments


@dataclass(frozen=True)
class Compared:
    """Two runs, the docnos of documents, and what is to be said beside the tables."""

    look: PairLook
    docnos: Mapping[int, str]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Shown:
    """What is shown of them, and how."""

    by: str | None
    format_: str


@click.command
@click.argument("what", type=FILE, nargs=-1, required=True, metavar="QRELS RUN RUN | --collection SLUG TAG TAG")
@click.option("--collection", metavar="SLUG", help="Compare two runs of a collection, named by their tags.")
@click.option(
    "-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="Such as nDCG@10, AP, P@5, RR; repeatable."
)
@click.option("--qrels", metavar="VERSION", help="With --collection: by a kept version of the qrels; live unless set.")
@click.option(
    "--relevant-from",
    type=click.IntRange(1),
    metavar="GRADE",
    help="For files: relevant are documents of this grade and better ones; 1 unless set.",
)
@click.option("--compat", type=click.Choice(["10", "9"]), help="For files: which trec_eval to equal; 10 unless set.")
@click.option(
    "--by",
    type=click.Choice(["test", "topic", "document"]),
    help="One table: tests of the difference, topics by their difference, or documents that moved.",
)
@click.option("--topic", metavar="NUMBER", help="With --by document: of this topic alone.")
@click.option(
    "--top",
    default=USUAL_TOP,
    show_default=True,
    type=click.IntRange(1, MOST_TOP),
    metavar="RANK",
    help="With --by document: documents so high in either run.",
)
@click.option(
    "--seed",
    default=USUAL_SEED,
    show_default=True,
    type=click.IntRange(0),
    help="What the randomisation test draws by; the same gives the same.",
)
@click.option("--format", "format_", default="table", type=click.Choice(["table", "csv", "json"]))
def command(
    what: Sequence[str],
    collection: str | None,
    measures: Sequence[str],
    qrels: str | None,
    relevant_from: int | None,
    compat: str | None,
    by: str | None,
    topic: str | None,
    top: int,
    seed: int,
    format_: str,
) -> None:
    """Compare two runs: QRELS RUN RUN are files and need no database; --collection SLUG TAG TAG names runs stored.

    Every difference is the first run's value less the second's, over all topics with a grade. Of each measure there is
    a paired t test with the 95 % interval and the effect size d_z, a randomisation test, Wilcoxon's test as R computes
    it, and the sign test. Without --by a table shows tests and topics, csv the tests; json has both, and documents
    with --by document.
    """
    _check(what, collection, qrels, relevant_from)
    if collection is not None and compat is not None:
        raise click.UsageError("--compat is for files; annotator leaderboard show has it for a collection.")
    if topic is not None and by != "document":
        raise click.UsageError("--topic goes with --by document.")
    topics = () if by != "document" else None if topic is None else (topic,)
    wanted = FilesWanted(measures or (USUAL_MEASURE,), relevant_from or 1, seed, top, topics, compat or USUAL_COMPAT)
    if collection is not None:
        _compare_stored(collection, (what[0], what[1]), wanted, GradesChosen(qrels or LIVE), Shown(by, format_))
    else:
        _show(_compare_files(what, wanted), Shown(by, format_))


def _check(what: Sequence[str], collection: str | None, qrels: str | None, relevant_from: int | None) -> None:
    if collection is None and len(what) != FROM_FILES:
        raise click.UsageError("Without --collection, name a file of qrels and two of runs.")
    if collection is not None and len(what) != FROM_COLLECTION:
        raise click.UsageError("With --collection, name two runs by their tags.")
    if collection is not None and relevant_from is not None:
        raise click.UsageError("--relevant-from is for files; a collection has its own.")
    if collection is None and qrels is not None:
        raise click.UsageError("--qrels goes with --collection; a file of qrels is the first of three files.")


def _compare_files(paths: Sequence[str], wanted: FilesWanted) -> Compared:
    qrels, first, second = read_files(paths)
    compared = compare_files(qrels, first, second, wanted)
    source = f"Over all topics of {compared.qrels}, as trec_eval {wanted.compat} -c: {len(compared.topics)}."
    return Compared(compared.look, compared.docnos, (source, *compared.warnings))


@on_installation
def _compare_stored(
    installation: Installation,
    slug: str,
    tags: tuple[str, str],
    wanted: FilesWanted,
    grades: GradesChosen,
    shown: Shown,
) -> None:
    # Documents are of all topics or of one; when none are asked for, the fewest are looked up.
    topics = list(wanted.topics) if wanted.topics is not None else None
    with installation.database.reading() as session:
        found = inspect_pair(
            *(session, slug, *tags),
            measures=wanted.measures,
            topics=topics,
            top=wanted.top,
            seed=wanted.seed,
            grades=grades,
        )
    state = found.choices.state
    source = (
        f"Qrels: {state.source} settled by {state.policy}, {state.grades} grades, fingerprint {state.fingerprint}; "
        f"relevant from {state.relevant_from}. Topics: {state.topics} scored, "
        f"{state.topics_left_out} without a grade left out."
    )
    look = found.look if shown.by == "document" else replace(found.look, moved=())
    _show(Compared(look, found.docnos, (source,)), shown)


def _show(compared: Compared, shown: Shown) -> None:
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
    yield f"Every difference is {look.first} less {look.second}."
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


# By what `--by` names: the headings and the rows.
TABLES: dict[str, tuple[tuple[str, ...], Callable[[Compared], Iterator[Row]]]] = {
    "test": (
        (
            *("measure", "topics", "first", "second", "difference", "low", "high", "effect_size"),
            *("t", "p_t", "p_randomisation", "p_wilcoxon", "p_signs"),
        ),
        _tests,
    ),
    "topic": (("measure", "topic", "first", "second", "difference"), _topics),
    "document": (("topic", "docno", "grade", "first_rank", "second_rank", "gap"), _documents),
}
