"""The comparison of two runs for reading: conclusion, curves, and both lists of one topic with their texts."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.inspection.board_pair import pair_on_board
from annotator.evaluation.inspection.scored_runs import JUDGED, GradesState
from annotator.evaluation.inspection.side_by_side import (
    Conclusion,
    TwoCurves,
    TwoLists,
    conclude,
    documents_of,
    two_curves,
    two_lists,
)
from annotator.evaluation.inspection.two_runs import PairLook, look_at_pair
from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.evaluation.metrics.names import USUAL_MEASURE, parse_measures
from annotator.evaluation.significance.two_runs import FLIPS
from annotator.storage.collections.collection import find_collection, find_topic
from annotator.storage.documents.documents import Excerpt, docnos_of, excerpts_of
from annotator.storage.leaderboard.scored_state import active_tags
from annotator.workflows.leaderboard.common_task import in_common_task
from annotator.workflows.leaderboard.inspecting import (
    OWN_GRADES,
    USUAL_SEED,
    USUAL_TOP,
    Choices,
    GradesChosen,
    InspectedPair,
    check_pair,
    choices_of,
    score_pair,
)

JUDGED_BESIDE = str(JUDGED)  # the share of judged documents that a comparison states beside any measure
MOST_LISTED = 100  # documents shown of each list, whatever the rank to which documents are compared


@dataclass(frozen=True)
class ComparedRuns(InspectedPair):
    """Comparison of two runs by one measure; `excerpts` are empty unless texts are requested."""

    conclusion: Conclusion
    curves: TwoCurves
    lists: TwoLists
    topic_title: str
    excerpts: Mapping[int, Excerpt]


def compare_runs(
    session: Session,
    slug: str,
    first: str,
    second: str,
    *,
    measure: str = USUAL_MEASURE,
    topic: str | None = None,
    top: int = USUAL_TOP,
    seed: int = USUAL_SEED,
    grades: GradesChosen = OWN_GRADES,
    with_texts: bool = True,
    all_tasks: bool = False,
) -> ComparedRuns:
    """Compare two active runs; both lists are those of `topic`, by default of the one on which the runs differ most.

    Without a task in `grades` it is that of both runs, unless they are compared on the topics of `all_tasks`. Raises as
    `in_common_task` and `inspect_pair`, and `InvalidValueError` for a name of several measures.
    """
    grades = in_common_task(session, slug, first, second, grades, all_tasks=all_tasks)
    scored = score_pair(session, slug, first, second, [one_measure(measure)], top=top, seed=seed, grades=grades)
    look = look_at_pair(scored, first, second, seed=seed, top=top, topics=[topic] if topic else [])
    number = look.moved[0].topic
    lists = two_lists(scored, first, second, number, top=min(top, MOST_LISTED))
    listed = documents_of([lists])
    moved = {one.document for one in look.moved[0].documents}
    title = find_topic(session, find_collection(session, slug).id, number).title
    return ComparedRuns(
        choices_of(scored),
        look,
        docnos_of(session, listed | moved),
        conclusion=conclude(first, second, look.by_measure[0]),
        curves=two_curves(scored, first, second),
        lists=lists,
        topic_title=title,
        excerpts=excerpts_of(session, listed) if with_texts else {},
    )


def one_measure(name: str) -> str:
    """The canonical name of a measure; raises `InvalidValueError` for an unknown one and for a name of several."""
    measures = parse_measures([name])
    if len(measures) != 1:
        raise InvalidValueError("Compare by one measure.")
    return str(measures[0])


@dataclass(frozen=True)
class ComparedScores:
    """Comparison of two runs by the scores of a leaderboard, which names no document."""

    choices: Choices
    look: PairLook
    conclusion: Conclusion


def compare_on_board(
    board: Leaderboard, first: str, second: str, *, seed: int = USUAL_SEED, flips: int = FLIPS
) -> ComparedScores:
    """Compare two runs of a leaderboard by its first measure; it is one with `JUDGED_BESIDE`, too.

    `flips` are those of the randomisation test, which takes most of the time. Raises `NotFoundError` for a run that is
    not on it, and `InvalidValueError` for a run with itself and for a seed
    below 0.
    """
    check_pair(first, second, seed)
    look = pair_on_board(board, first, second, seed=seed, flips=flips)
    state = GradesState(
        source=board.qrels,
        policy=board.policy,
        relevant_from=board.relevant_from,
        grades=board.grades,
        topics=len(board.topics),
        topics_left_out=board.topics_left_out,
        fingerprint=board.fingerprint,
        round=board.round,
        task=board.task,
    )
    choices = Choices(
        state,
        board.measures[0],
        board.directions[0],
        tuple(sorted((row.tag for row in board.rows), key=natural_order)),
        tuple(sorted(board.topics, key=natural_order)),
        board.notices,
    )
    return ComparedScores(choices, look, conclude(first, second, look.by_measure[0]))


def comparable_runs(session: Session, slug: str) -> tuple[str, ...]:
    """The tags of the active runs, in natural order."""
    return tuple(sorted(active_tags(session, find_collection(session, slug).id), key=natural_order))
