"""The leaderboard: every run scored against the live settled grades, a kept version of them, or a file."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.leaderboard import (
    BoardRun,
    BoardValues,
    Leaderboard,
    LeaderboardRow,
    View,
    needed,
)
from annotator.evaluation.leaderboard.leaderboard_making import (
    BoardRequest,
    DroppingEffect,
    board_values,
    effect_of_dropping,
    fingerprint_of,
    make_leaderboard,
    of_every_run,
    scored_topics,
)
from annotator.evaluation.leaderboard.leaderboard_notices import released_by_version, sample_notices
from annotator.evaluation.leaderboard.leaderboard_table import Cell, exact_rows, latex, markdown, shown_beside
from annotator.evaluation.leaderboard.leaderboard_table import readable_rows as readable_rows
from annotator.evaluation.leaderboard.leaderboard_table import scored_against as scored_against
from annotator.evaluation.leaderboard.scoring_scope import ScoringScope, no_run, nothing_judged
from annotator.evaluation.leaderboard.topic_scores import Grading, score_topics
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.names import (
    DEFAULT_MEASURES,
    DEFAULTS_IN_TREC_EVAL,
    measures_on_scale,
    parse_measures,
)
from annotator.evaluation.metrics.names import split_names as split_names
from annotator.evaluation.metrics.setting import Compat
from annotator.evaluation.outputs.score_outputs import ALL_TOPICS, TREC_EVAL, RunScores, ScoreTable, scores_as
from annotator.evaluation.qrels.graded_topic import GradedTopic
from annotator.evaluation.runs.rankings import RankedDocuments, tied_documents, unpack_lists
from annotator.garbage_collection import garbage_collection_off
from annotator.spreadsheets import csv_text
from annotator.storage import DROPPED, QrelsVersion
from annotator.storage import Collection as CollectionRow
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.documents.documents import docnos_of
from annotator.storage.leaderboard.scored_state import ScoredState, lists_with_scores, scored_state
from annotator.storage.qrels.qrels_versions import kept_version, number_of_grades
from annotator.workflows.leaderboard.grade_sources import (
    LIVE,
    GradesFrom,
    GradeSource,
    find_grade_source,
)
from annotator.workflows.leaderboard.score_cache import CachedRuns, CachedView, ScoreCache, add_scores
from annotator.workflows.runs.scoring_scope import choices_of_collection, find_scope, with_judged_before

USUAL_VIEW = View()
MOST_MEASURES = 24  # per request; with related values, fewer than the cache holds


def build_leaderboard(
    session: Session,
    slug: str,
    measures: Sequence[str] = DEFAULT_MEASURES,
    *,
    grades: GradesFrom = LIVE,
    view: View = USUAL_VIEW,
    cache: ScoreCache | None = None,
    before: datetime | None = None,
) -> Leaderboard:
    """Score every active run over the accepted topics with a grade; a missing list counts as an empty one.

    `before` excludes runs uploaded at or after that time. `cache` is the process's cache, if any. Raises
    `InvalidValueError` for an unknown measure and for too many, `NotFoundError` for an unknown judge, version or
    baseline, `ConflictError` while there is no grade or no run, and `FileRefusedError` for a bad file.
    """
    collection = find_collection(session, slug)
    as_kept = grades.version if grades.as_kept else None
    state = scored_state(session, collection, as_kept=as_kept).in_time(before)
    parsed, view = _parse(measures, state.best_grade), view.on_scale(state.best_grade)
    scope = find_scope(
        session, collection.id, grades.round, residual=grades.residual, task=grades.task, as_kept=as_kept
    )
    state = state if scope is None else state.within(scope.runs, scope.topics)
    grading = Grading(state.relevant_from, state.best_grade, Compat(grades.compat))
    source = find_grade_source(session, collection, state, grades, parsed)
    request = _request(session, state, parsed, grading, view, source, scope)
    view_key, mark = (grading.compat, scope and scope.key), scope and scope.mark_of_scores
    kept = (cache or ScoreCache()).of(collection.id, view_key, state.runs, [run.id for run in state.runs], mark=mark)
    key, marks = (source.key, grading, request.key), tuple(source.marks.items())
    board = kept.find_board(key, marks)
    if board is None:
        scope = with_judged_before(session, collection.id, scope, as_kept=as_kept)
        with garbage_collection_off():
            board = _make_board(session, kept, request, source, scope)
        kept.keep_board(key, marks, board)
    of_sample = sample_notices(source.sample, parsed)
    if source.notices or of_sample:
        board = replace(board, notices=(*source.notices, *of_sample, *board.notices), of_sample=of_sample)
    if grades.is_live:
        board = _with_release_notice(session, kept.view, collection, state, scope, board)
    return _with_scope_notices(session, collection.id, grades, board)


def _with_scope_notices(session: Session, collection_id: int, grades: GradesFrom, board: Leaderboard) -> Leaderboard:
    """Add the notices that the runs of every round, or of every task, are scored where there are several."""
    choices = choices_of_collection(session, collection_id)
    has_rounds, has_tasks = bool(choices.rounds), bool(choices.tasks)
    return of_every_run(board, rounds=has_rounds and grades.round is None, tasks=has_tasks and grades.task is None)


def _request(
    session: Session,
    state: ScoredState,
    measures: tuple[Measure, ...],
    grading: Grading,
    view: View,
    source: GradeSource,
    scope: ScoringScope | None,
) -> BoardRequest:
    dropped = topic_ids(session, state.collection_id, DROPPED)
    if scope is not None and scope.topics is not None:
        dropped = {number: id_ for number, id_ in dropped.items() if id_ in scope.topics}
    return BoardRequest(
        runs=tuple(BoardRun(run.tag, run.team, run.uploaded_at, run.fed_pool, run.run_type) for run in state.runs),
        numbers={id_: topic.number for id_, topic in state.topics.items()},
        dropped=tuple(sorted(dropped, key=natural_order)),
        measures=measures,
        grading=grading,
        view=view,
        source=source.name,
        round=None if scope is None else scope.round_name,
        task=None if scope is None else scope.task,
        policy=source.policy,
        fingerprint=None if scope is not None and scope.changes_grades else source.fingerprint,
    )


def _make_board(
    session: Session, kept: CachedRuns, request: BoardRequest, source: GradeSource, scope: ScoringScope | None
) -> Leaderboard:
    """Settle and score the changed topics, then rank the runs; ranking holds no lock."""
    graded = _settle_stale(session, kept.view, source, scope)
    if not any(topic.judged for topic in graded.values()):
        raise nothing_judged(scope)
    if not request.runs:
        raise no_run(scope)
    board = make_leaderboard(request, graded, _score_stale(session, kept, request, source, graded, scope))
    if scope is None:
        return board
    return replace(board, notices=(*scope.sentences, *board.notices), of_scope=scope.sentences)


def _settle_stale(
    session: Session, kept: CachedView, source: GradeSource, scope: ScoringScope | None
) -> dict[int, GradedTopic]:
    """The grades of every topic; topics whose mark has changed are settled again."""
    with kept.lock:
        known = kept.grading(source.key)
        stale = known.stale(source.marks)
        settled = source.within(scope).settle(session, stale, known.earlier(stale)) if stale else {}
        return known.renew(source.marks, settled if scope is None else scope.grades_left(settled))


def _score_stale(
    session: Session,
    kept: CachedRuns,
    request: BoardRequest,
    source: GradeSource,
    graded: Mapping[int, GradedTopic],
    scope: ScoringScope | None,
) -> BoardValues:
    """The values of all runs and topics; those not in the cache are computed from the runs' lists."""
    measures = needed(request.measures)
    with kept.lock:
        for runs, known in kept.missing_lists([topic for topic in graded if graded[topic].documents.size]).items():
            loaded = _load_lists(session, runs, known, request.grading.compat, scope) if runs else {}
            kept.add_lists(runs, known, loaded)
        scores = kept.scores_of((source.key, request.grading), source.marks)
        scored = scored_topics(request, graded)
        new = score_topics(scored, scores, kept.lists, len(request.runs), measures, request.grading)
        add_scores({topic: scores[topic] for topic in scored}, new, measures)
        return board_values(request, graded, scores)


def _load_lists(
    session: Session, runs: Collection[int], topics: Collection[int], compat: Compat, scope: ScoringScope | None
) -> dict[int, list[RankedDocuments]]:
    """Load the lists of these runs for these topics, by topic, in the order of that trec_eval version."""
    rows = lists_with_scores(session, runs, topics, with_scores=compat is Compat.TREC_EVAL_9)
    lists = unpack_lists(list(runs), topics, rows, docnos_of(session, tied_documents(rows)))
    return lists if scope is None else scope.lists_left(lists)


def effect_on_leaderboard(board: Leaderboard, topics: Sequence[str]) -> DroppingEffect:
    """The leaderboard's first measure without these topics, run by run in the order of the leaderboard.

    Raises `NotFoundError` for a topic that is not on it, and `ConflictError` when none would be left.
    """
    for number in topics:
        if number not in board.topics:
            raise NotFoundError(
                "Topic “%(number)s” is not on the leaderboard: nothing of it is judged, or it does not count.",
                number=number,
            )
    values = {row.tag: {topic: of_topic[0] for topic, of_topic in row.by_topic.items()} for row in board.rows}
    effect = effect_of_dropping(parse_measures(board.measures)[0], values, topics)
    return replace(effect, notices=board.of_scope)


def measure_help(names: Sequence[str] = DEFAULT_MEASURES) -> dict[str, str]:
    """The help text of each measure, by its canonical name."""
    return {str(measure): measure.help for measure in parse_measures(names)}


def _with_release_notice(
    session: Session,
    kept: CachedView,
    collection: CollectionRow,
    state: ScoredState,
    scope: ScoringScope | None,
    board: Leaderboard,
) -> Leaderboard:
    """Add a notice if the released scores are computed from other grades or with another relevance threshold."""
    if collection.scores_qrels_version is None:
        return board
    version = kept_version(session, collection.id, str(collection.scores_qrels_version))
    if version.relevant_from == board.relevant_from and (
        version.fingerprint.startswith(board.fingerprint)
        or _has_grades_of(session, kept, collection, state, scope, board, version)
    ):
        return board
    return replace(board, notices=(released_by_version(version.number, version.made_at), *board.notices))


def _has_grades_of(
    session: Session,
    kept: CachedView,
    collection: CollectionRow,
    state: ScoredState,
    scope: ScoringScope | None,
    board: Leaderboard,
    version: QrelsVersion,
) -> bool:
    """Whether the version would be scored by the same grades.

    Its own fingerprint also covers unjudged documents, topics that no longer count, and what a scope takes out.
    """
    # Most often judging has gone on since, and then the counts alone differ.
    takes_out = scope is not None and scope.changes_grades
    if not takes_out and number_of_grades(session, version.id) != board.grades:
        return False
    source = find_grade_source(session, collection, state, GradesFrom(version=version.number), ())
    scope = with_judged_before(session, collection.id, scope)
    graded = _settle_stale(session, kept, source, scope)
    numbers = {id_: topic.number for id_, topic in state.topics.items()}
    return fingerprint_of(numbers, graded) == board.fingerprint


def _parse(names: Sequence[str], best_grade: int) -> tuple[Measure, ...]:
    """Parse the requested measures; their number is limited to bound memory and time."""
    parsed = measures_on_scale(names, best_grade)
    if not parsed:
        raise InvalidValueError("There is no measure to score by; name at least one, such as nDCG@10.")
    if len(parsed) > MOST_MEASURES:
        raise InvalidValueError(
            "At most %(most)d measures are shown at once, not %(given)d: request the others separately.",
            most=MOST_MEASURES,
            given=len(parsed),
        )
    return parsed


def scores_of_board(board: Leaderboard, format_name: str, *, per_topic: bool) -> bytes:
    """A leaderboard in a format of `leaderboard show`, but that of JSON; trec_eval's always has values by topic.

    Raises `InvalidValueError` for LaTeX and Markdown by topic, for Parquet without pyarrow, and for scores that the
    format cannot hold.
    """
    if format_name in FOR_PAPERS:
        if per_topic:
            raise InvalidValueError("The format %(format)s has no values by topic.", format=format_name)
        return FOR_PAPERS[format_name](board).encode()
    topics = board.topics if per_topic or format_name == TREC_EVAL else ()
    runs = [RunScores(row.tag, {topic: row.by_topic[topic] for topic in topics}, row.values) for row in board.rows]
    headings, *rows = topic_columns(board) if per_topic else exact_rows(board)
    return scores_as(format_name, ScoreTable(board.measures, runs), (list(map(str, headings)), rows))


def default_measures(format_name: str) -> Sequence[str]:
    """The measures of a leaderboard for which none is named: without those that the format cannot hold."""
    return DEFAULTS_IN_TREC_EVAL if format_name == TREC_EVAL else DEFAULT_MEASURES


FOR_PAPERS: dict[str, Callable[[Leaderboard], str]] = {"latex": latex, "markdown": markdown}


def leaderboard_csv(board: Leaderboard) -> str:
    """CSV with one line per run; every line names the grades, so that it can be read on its own."""
    return csv_text(exact_rows(board))


def topic_columns(board: Leaderboard) -> list[list[Cell]]:
    """The headings, and one row per run and topic with the state of the grades."""
    named = ["qrels", "policy", "grades", "topics", "fingerprint", "trec_eval"]
    against: list[Cell] = [board.source, board.policy, board.grades, len(board.topics), board.fingerprint, board.compat]
    headings: list[Cell] = ["run", "topic", *board.measures, *named]
    return [headings, *([*row, *against] for row in topic_rows(board))]


def topic_rows(board: Leaderboard) -> Sequence[Sequence[Cell]]:
    """One row per run and topic, followed by the run's mean, as trec_eval prints them."""
    return [
        [row.tag, topic, *values]
        for row in board.rows
        for topic, values in (*((number, row.by_topic[number]) for number in board.topics), (ALL_TOPICS, row.values))
    ]


def as_json(board: Leaderboard, *, per_topic: bool) -> dict[str, object]:
    """The whole leaderboard as JSON; values by topic only if `per_topic`."""
    plain = ("measures", "topics", "topics_left_out", "topics_dropped", "grades", "source", "policy", "relevant_from")
    return {
        **{name: getattr(board, name) for name in plain},
        "fingerprint": board.fingerprint,
        "disputed_left_out": board.disputed_left_out,
        "sorted_by": board.sorted_by,
        "better": board.better,
        "trec_eval": board.compat,
        "interval": board.view.interval,
        "baseline": board.view.baseline,
        "notices": list(map(str, board.notices)),
        "rows": [_row_as_json(board, row, per_topic=per_topic) for row in board.rows],
    }


def _row_as_json(board: Leaderboard, row: LeaderboardRow, *, per_topic: bool) -> dict[str, object]:
    def by_measure(values: Sequence[object]) -> dict[str, object]:
        return dict(zip(board.measures, values, strict=True))

    beside = [(place, shown_beside(board, place)) for place in range(len(board.measures))]
    how_far = {name: row.judged[place] for place, name in beside if name is not None}
    said: dict[str, object] = {
        "tag": row.tag,
        "place": row.place,
        "team": row.team,
        "values": by_measure(row.values) | how_far,
        "intervals": by_measure([one.bounds if one is not None else None for one in row.intervals]),
        "judged": by_measure(row.judged),
        "fed_pool": row.run.fed_pool,
        "best_of_team": row.best_of_team,
    }
    if board.view.baseline is not None:
        said["p"] = by_measure([figure.value if figure is not None else None for figure in row.p])
        said["stars"] = by_measure(row.stars)
    if board.view.letters:
        said["letters"] = row.letters
    if per_topic:
        said["by_topic"] = {topic: by_measure(row.by_topic[topic]) for topic in board.topics}
    return said
