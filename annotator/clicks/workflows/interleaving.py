"""Creation of interleaved lists of runs, and scoring of their clicks; nothing is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotator.clicks.evaluation.comparison.comparison import (
    USUAL_SEED as USUAL_SEED,  # for commands, which import workflows
)
from annotator.clicks.evaluation.comparison.tables import OF_LISTS, PAIRS, Table
from annotator.clicks.evaluation.interleaving.interleaving import (
    FEWEST_RUNS,
    InterleavedLists,
    format_lists,
    interleave,
    parse_lists,
    refusal_of_tags,
)
from annotator.clicks.evaluation.interleaving.interleaving import Method as Method
from annotator.clicks.evaluation.interleaving.interleaving_clicks import (
    MOST_RUNS,
    credited_by_lists,
    credited_by_variant,
)
from annotator.clicks.evaluation.interleaving.interleaving_scores import BALANCED_BIAS as BALANCED_BIAS
from annotator.clicks.evaluation.interleaving.interleaving_scores import InterleavingResult as InterleavingResult
from annotator.clicks.evaluation.interleaving.interleaving_scores import score_interleaving
from annotator.clicks.evaluation.interleaving.interleaving_scores import to_json as to_json
from annotator.clicks.evaluation.logs.click_format import read_click_log
from annotator.clicks.evaluation.logs.column_mapping import LogMapping
from annotator.clicks.evaluation.logs.log_sources import Advance, LogFile
from annotator.errors import FileRefusedError, InvalidValueError, Problems, Sentence
from annotator.evaluation.formats.unpacking import read_text
from annotator.evaluation.runs.run_format import ParsedRun, parse_run
from annotator.files import InputFile
from annotator.workflows.runs.runs import original_file

METHODS = tuple(method.value for method in Method)
USUAL_METHOD = Method.TEAM_DRAFT.value
USUAL_DEPTH, USUAL_LISTS_SEED = 10, 1
USUAL_LISTS = 60  # a multiple of 2 to 6: over that many lists each of up to six runs has every turn equally often
MOST_DEPTH = 1_000
MOST_LISTS = 10_000
TABLES = tuple(OF_LISTS)
USUAL_TABLE = PAIRS


@dataclass(frozen=True)
class ListsWanted:
    """The options of interleaving: length of the lists, lists for each topic, and the random seed."""

    method: str
    depth: int
    lists: int
    seed: int


@dataclass(frozen=True)
class MadeLists:
    """The file of lists, and notices about it."""

    content: bytes
    runs: tuple[str, ...]
    topics: int
    left_out: int  # topics that not all of the runs have


@dataclass(frozen=True)
class ScoresWanted:
    """The options of scoring, all optional; with a seed, by bootstrap also."""

    lists: InputFile | None = None
    variants: Sequence[str] = ()
    seed: int | None = None


@dataclass(frozen=True)
class ScoredLog:
    """The scores of a log; `dropped` are events that are not counted, by reason."""

    result: InterleavingResult
    lines: int
    dropped: Mapping[str, int]


def make_lists(files: Sequence[InputFile], wanted: ListsWanted) -> MadeLists:
    """Interleave runs; the same files in the same order and the same seed give the same file, byte for byte.

    Raises `FileRefusedError` with the problems of every file, and `InvalidValueError` for fewer runs than two or more
    than 20, runs without a topic in common, and balanced interleaving of more than two.
    """
    if not FEWEST_RUNS <= len(files) <= MOST_RUNS:
        raise InvalidValueError(
            "Interleaving takes from %(fewest)d to %(most)d runs, not %(count)d.",
            fewest=FEWEST_RUNS,
            most=MOST_RUNS,
            count=len(files),
        )
    runs = _parsed(files)
    ranked = {
        run.tag: {topic: [docno.decode() for docno in one.docnos.tolist()] for topic, one in run.lists.items()}
        for run in runs
    }
    made = interleave(ranked, Method(wanted.method), depth=wanted.depth, lists=wanted.lists, seed=wanted.seed)
    topics = {topic for topic, _ in made.lists}
    return MadeLists(
        content=format_lists(made, _note(wanted)),
        runs=made.runs,
        topics=len(topics),
        left_out=len(set().union(*ranked.values()) - topics),
    )


def interleave_stored(session: Session, slug: str, *, tags: Sequence[str], wanted: ListsWanted) -> MadeLists:
    """Interleave active runs of a collection, as `make_lists` does with their files; also `NotFoundError`."""
    return make_lists([original_file(session, slug, tag) for tag in dict.fromkeys(tags)], wanted)


def score_log_files(
    files: Sequence[LogFile],
    mapping: LogMapping,
    wanted: ScoresWanted,
    *,
    advance: Advance = lambda _bytes: None,
) -> ScoredLog:
    """Score the clicks of a log, credited by the file of lists, or else by the variant on each line.

    `advance` is called with the numbers of bytes read. Raises `FileRefusedError` with the problems of the
    log or the file of lists, and what `credited_by_variant` and `credited_by_lists` raise.
    """
    if wanted.lists is not None and wanted.variants:
        raise InvalidValueError("With a file of lists, the runs are those of its heading. Name no variants.")
    # Read first: it is small, so its problems are found early.
    lists = None if wanted.lists is None else _read_lists(wanted.lists)
    log = read_click_log(files, mapping, advance=advance)
    credited = credited_by_variant(log, wanted.variants) if lists is None else credited_by_lists(log, lists)
    return ScoredLog(
        score_interleaving(log, credited, seed=wanted.seed),
        log.lines,
        {str(reason): count for reason, count in log.dropped.items()},
    )


def table_of(scored: ScoredLog, name: str) -> Table:
    """Headings and rows of one of the `TABLES`, in full precision; `KeyError` for another name."""
    headings, rows = OF_LISTS[name]
    return headings, list(rows(scored.result))


def _parsed(files: Sequence[InputFile]) -> list[ParsedRun]:
    problems = Problems()
    runs: list[ParsedRun] = []
    for file in files:
        text = read_text(problems, file.name, file.content)
        run = None if text is None else parse_run(file.name, text, problems)
        if run is not None:
            runs.append(run)
    if problems.total:
        raise FileRefusedError(
            problems, Sentence("No list was made. Problems found: %(total)d.", {"total": problems.total})
        )
    if refusal := refusal_of_tags([run.tag for run in runs]):
        raise InvalidValueError(refusal.template, **refusal.values)
    return runs


def _read_lists(file: InputFile) -> InterleavedLists:
    problems = Problems()
    text = read_text(problems, file.name, file.content)
    lists = None if text is None else parse_lists(file.name, text, problems)
    if lists is None:
        raise FileRefusedError(
            problems, Sentence("Nothing was scored. Problems found: %(total)d.", {"total": problems.total})
        )
    return lists


def _note(wanted: ListsWanted) -> str:
    """Return the note on how the lists were made, with all options needed to make them again from the runs."""
    options = f"--method {wanted.method} --depth {wanted.depth} --count {wanted.lists} --seed {wanted.seed}"
    return f"annotator interleave {options}"
