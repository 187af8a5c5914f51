"""Beside live scores stands a notice when released ones are computed from other grades, and only then."""

from datetime import timedelta

import pytest
from beginning import beginning
from build import NOW, SLUG, document_file, labels, news, pool, pooled_news, run, topic_file
from sqlalchemy.orm import Session

from annotator.files import InputFile
from annotator.storage import ScoresShown
from annotator.workflows.collections import rounds
from annotator.workflows.leaderboard import leaderboard
from annotator.workflows.leaderboard.grade_sources import LIVE, GradesFrom
from annotator.workflows.leaderboard.score_cache import ScoreCache
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.runs import submissions
from annotator.workflows.topics import topic_editing


@beginning
def two_rounds(session: Session) -> None:
    """Topic 1 was judged before round 2, topic 2 and one more document of topic 1 in it."""
    news(session)
    topic_file(session)
    document_file(session, ["a", "b", "c", "d", "e"])
    rounds.open_round(session, SLUG, at=NOW)
    run(session, "first", {"1": ["a", "b", "c", "d"], "2": ["a", "e"]})
    pool(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n")
    rounds.close_round(session, SLUG, version=keep(session), at=NOW)
    rounds.open_round(session, SLUG, at=NOW)
    run(session, "second", {"1": ["c", "a"], "2": ["e"]})
    labels(session, "jo", "1 0 c 1\n2 0 a 0\n2 0 e 1\n", name="later.txt")


def keep(session: Session, *, with_unjudged: bool = False) -> int:
    kept = qrels.export_qrels(session, SLUG, made_at=NOW, with_unjudged=with_unjudged)
    return qrels_versions.keep_qrels(session, SLUG, kept, made_by_id=None, made_at=NOW)


def release(session: Session, version: int) -> None:
    submissions.release_scores(
        session,
        SLUG,
        at=NOW,
        moment=NOW + timedelta(seconds=1),
        shown=ScoresShown.WHOLE,
        qrels=str(version),
        early=True,
    )


def is_noticed(session: Session, grades: GradesFrom = LIVE, cache: ScoreCache | None = None) -> bool:
    board = leaderboard.build_leaderboard(session, SLUG, ["AP"], grades=grades, cache=cache)
    return any(str(notice).startswith("Released scores are computed from version") for notice in board.notices)


ROUND_2 = [GradesFrom(round=2, residual=residual) for residual in (False, True)]


@pytest.mark.parametrize("grades", [LIVE, *ROUND_2])
def test_the_grades_of_the_released_version_are_no_others_in_any_round(session: Session, grades: GradesFrom) -> None:
    two_rounds(session)
    release(session, keep(session))
    assert not is_noticed(session, grades)
    cache = ScoreCache()
    assert [is_noticed(session, grades, cache) for _ in range(2)] == [False, False]


@pytest.mark.parametrize("grades", [LIVE, *ROUND_2])
@pytest.mark.parametrize("judged", ["1 0 d 1\n", "2 0 e 2\n"])
def test_a_grade_given_or_changed_since_is_noticed_in_any_round(
    session: Session, grades: GradesFrom, judged: str
) -> None:
    two_rounds(session)
    release(session, keep(session))
    cache = ScoreCache()
    assert not is_noticed(session, grades, cache)
    labels(session, "jo", judged, name="since.txt")
    assert is_noticed(session, grades, cache)
    assert is_noticed(session, grades)


def test_a_change_of_what_a_residual_round_takes_out_is_noticed_only_in_the_whole(session: Session) -> None:
    two_rounds(session)
    release(session, keep(session))
    labels(session, "jo", "1 0 b 1\n", name="since.txt")
    assert [is_noticed(session, grades) for grades in (LIVE, *ROUND_2)] == [True, True, False]


def test_unjudged_documents_in_the_version_are_no_other_grades(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n")
    release(session, keep(session, with_unjudged=True))
    assert not is_noticed(session)
    labels(session, "jo", "1 0 c 1\n", name="since.txt")
    assert is_noticed(session)


def test_a_topic_dropped_since_counts_in_neither(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n2 0 e 1\n")
    release(session, keep(session))
    topic_editing.drop_topics(session, SLUG, ["2"], reason="It says nothing.")
    assert not is_noticed(session)


@pytest.mark.parametrize(
    "grades",
    [
        GradesFrom(policy="highest"),
        GradesFrom(judge="jo"),
        GradesFrom(version=1),
        GradesFrom(qrels_file=InputFile("other.qrels", b"1 0 a 1\n"), unpacked_limit=100),
    ],
)
def test_grades_that_were_chosen_are_not_compared(session: Session, grades: GradesFrom) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n")
    release(session, keep(session))
    labels(session, "jo", "1 0 a 1\n", name="since.txt")
    assert not is_noticed(session, grades)
    assert is_noticed(session, GradesFrom(unpacked_limit=100))
