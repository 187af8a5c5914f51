"""The leaderboard: every run scored against the settled grades of this moment, a kept version of them, or a file."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.leaderboard import ENOUGH_JUDGED as ENOUGH_JUDGED
from annotator.evaluation.leaderboard import BoardRun
from annotator.evaluation.leaderboard import Leaderboard as Leaderboard
from annotator.evaluation.leaderboard import LeaderboardRow as LeaderboardRow
from annotator.evaluation.leaderboard import View as View
from annotator.evaluation.leaderboard_making import Asked
from annotator.evaluation.leaderboard_notices import EVERY_ROUND as EVERY_ROUND
from annotator.evaluation.leaderboard_notices import released_by_version
from annotator.evaluation.leaderboard_recalling import recalled, within
from annotator.evaluation.live_scores import Grading, no_search_for_garbage
from annotator.evaluation.live_scores import LiveScores as LiveScores
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.names import DEFAULT_MEASURES as DEFAULT_MEASURES
from annotator.evaluation.metrics.names import measures_on_scale, parse_measures
from annotator.evaluation.metrics.names import split_names as split_names
from annotator.evaluation.metrics.setting import Compat as Compat
from annotator.evaluation.natural_order import natural_order
from annotator.evaluation.reusability.round_scope import RoundScope
from annotator.evaluation.sample_notices import sample_notices
from annotator.evaluation.significance import IntervalMethod as IntervalMethod
from annotator.evaluation.single_precision import RankedDocuments, tied_documents, unpack_lists
from annotator.evaluation.topic_dropping import DroppingEffect as DroppingEffect
from annotator.evaluation.topic_dropping import effect_of_dropping
from annotator.storage import DROPPED
from annotator.storage import Collection as CollectionRow
from annotator.storage.collection import find_collection, topic_ids
from annotator.storage.documents import docnos_of
from annotator.storage.qrels_versions import released_otherwise
from annotator.storage.rounds import facts_of_round, rounds_of
from annotator.storage.scored_state import ScoredState, lists_with_scores, scored_state
from annotator.workflows.graded_sources import LIVE as LIVE
from annotator.workflows.graded_sources import GradesFrom as GradesFrom
from annotator.workflows.graded_sources import source_of

USUAL_VIEW = View()
MOST_MEASURES = 24  # asked for at once; with what stands beside them, fewer than are remembered


def build_leaderboard(
    session: Session,
    slug: str,
    measures: Sequence[str] = DEFAULT_MEASURES,
    *,
    grades: GradesFrom = LIVE,
    view: View = USUAL_VIEW,
    memory: LiveScores | None = None,
    before: datetime | None = None,
) -> Leaderboard:
    """Score every run in force over the accepted topics that have a grade; without a list a run has an empty one.

    `before` leaves out the runs that were uploaded from that moment on, as if they were not there.

    The memory of this process, if given, keeps what stays the same until the next time. Raises `InvalidValueError`
    for an unknown measure and for too many, `NotFoundError` for an unknown judge, version or baseline, `ConflictError`
    while there is no grade or no run, `FileRefusedError` for a bad file.
    """
    collection = find_collection(session, slug)
    as_kept = grades.version if grades.as_kept else None
    state = _in_time(scored_state(session, collection, as_kept=as_kept), before)
    parsed, view = _parse(measures, state.best_grade), view.on_scale(state.best_grade)
    facts = facts_of_round(session, collection.id, grades.round, residual=grades.residual, as_kept=as_kept)
    scope = RoundScope.of(facts)
    state = state if scope is None else replace(state, runs=tuple(run for run in state.runs if run.id in scope.runs))
    grading = Grading(state.relevant_from, state.best_grade, Compat(grades.compat))
    source = within(scope, source_of(session, collection, state, grades, parsed))
    dropped = tuple(sorted(topic_ids(session, collection.id, DROPPED), key=natural_order))
    asked = Asked(
        tuple(BoardRun(run.tag, run.team, run.uploaded_at, run.fed_pool) for run in state.runs),
        {id_: topic.number for id_, topic in state.topics.items()},
        *(dropped, parsed, grading, view, source.name, source.policy, source.fingerprint),
    )
    load = partial(_load_lists, session, compat=grading.compat, scope=scope)
    run_ids = [run.id for run in state.runs]
    kept = (memory or LiveScores()).of(collection.id, (grading.compat, scope and scope.key), state.runs, run_ids)
    with no_search_for_garbage():
        board = recalled(kept, asked, source, scope, load)
    of_sample = sample_notices(source.sample, parsed)
    if source.said or of_sample:
        board = replace(board, notices=(*source.said, *of_sample, *board.notices), of_sample=of_sample)
    if replace(grades, compat=LIVE.compat, round=None, residual=False) == LIVE:
        board = _beside_release(session, collection, board)
    return _of_every_round(board) if scope is None and rounds_of(session, collection.id) else board


def effect_on_leaderboard(board: Leaderboard, topics: Sequence[str]) -> DroppingEffect:
    """Say what its first measure would come to without these topics, run by run in the order of the leaderboard.

    Raises `NotFoundError` for a topic that is not on it, and `ConflictError` when none would be left.
    """
    for number in topics:
        if number not in board.topics:
            raise NotFoundError(
                "Topic “%(number)s” is not on the leaderboard: nothing of it is judged, or it does not count.",
                number=number,
            )
    values = {row.tag: {topic: of_topic[0] for topic, of_topic in row.by_topic.items()} for row in board.rows}
    return effect_of_dropping(parse_measures(board.measures)[0], values, topics)


def measure_help(names: Sequence[str] = DEFAULT_MEASURES) -> dict[str, str]:
    """What each measure says of itself, by its canonical name."""
    return {str(measure): measure.help for measure in parse_measures(names)}


def _beside_release(session: Session, collection: CollectionRow, board: Leaderboard) -> Leaderboard:
    """The same, saying so where released scores are computed from other grades."""
    released = released_otherwise(session, collection, board.fingerprint, board.relevant_from)
    return board if released is None else replace(board, notices=(released_by_version(*released), *board.notices))


def _of_every_round(board: Leaderboard) -> Leaderboard:
    """The same, saying so in files, which have no notices, and for whoever reads it."""
    return replace(
        board,
        source=f"{board.source}, every round, whole",
        notices=(EVERY_ROUND, *board.notices),
        of_rounds=(EVERY_ROUND,),
    )


def _parse(names: Sequence[str], best_grade: int) -> tuple[Measure, ...]:
    """The measures asked for; more than so many would take memory and time from everybody else."""
    parsed = measures_on_scale(names, best_grade)
    if len(parsed) > MOST_MEASURES:
        raise InvalidValueError(
            "At most %(most)d measures are shown at once, not %(given)d: ask for the others apart.",
            most=MOST_MEASURES,
            given=len(parsed),
        )
    return parsed


def _in_time(state: ScoredState, before: datetime | None) -> ScoredState:
    """The same without the runs that were uploaded from that moment on."""
    return replace(state, runs=tuple(one for one in state.runs if before is None or one.uploaded_at < before))


def _load_lists(
    session: Session, runs: Collection[int], topics: Collection[int], *, compat: Compat, scope: RoundScope | None
) -> dict[int, list[RankedDocuments]]:
    """The lists of these runs for these topics, by topic, as that trec_eval orders them."""
    rows = lists_with_scores(session, runs, topics, with_scores=compat is Compat.TREC_EVAL_9)
    lists = unpack_lists(list(runs), topics, rows, docnos_of(session, tied_documents(rows)))
    return lists if scope is None else scope.lists_left(lists)
