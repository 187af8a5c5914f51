"""What everybody may read of a collection: chosen by organisers, by a released version, and under which names."""

from datetime import timedelta

import pytest
from beginning import beginning
from build import NOW, SLUG, labels, news, pool, run, topic_file
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, FileRefusedError, InvalidValueError
from annotator.evaluation.publishing.public_board import BY_NAME, BesideMedian, PublicResults, PublicTask
from annotator.storage import PublicScores, ScoresShown
from annotator.workflows.collections.collection import CollectionChange, change_collection, set_guidelines
from annotator.workflows.leaderboard.public_scores import (
    PublicChange,
    change_public,
    public_state,
    public_task,
    show_public,
)
from annotator.workflows.leaderboard.release_kit import collection_veil
from annotator.workflows.people.registration import RegistrationChange, open_registration
from annotator.workflows.qrels.qrels import export_qrels
from annotator.workflows.qrels.qrels_versions import keep_qrels
from annotator.workflows.runs.runs import withdraw_run
from annotator.workflows.runs.submissions import release_scores, take_scores_back

LATER = NOW + timedelta(days=1)
EVERYTHING = PublicChange(scores=PublicScores.EVERYTHING, veiled=False, measures=("P@1", "num_ret"))
# By hand: a is relevant to both topics, c to none, b to topic 1. P@1 of each run on topics 1 and 2.
RUNS = {"best": {"1": ["a"], "2": ["a"]}, "middle": {"1": ["b", "c"], "2": ["c"]}, "worst": {"1": ["c"], "2": ["c"]}}
TEAMS = {"best": "Reds", "middle": "Blues", "worst": None}


@beginning
def judged_news(session: Session) -> None:
    """Three runs of two teams and a kept version of the qrels."""
    news(session)
    topic_file(session)
    for tag, lists in RUNS.items():
        run(session, tag, lists, team=TEAMS[tag])
    pool(session)
    labels(session, "jo", "1 0 a 1\n1 0 b 1\n1 0 c 0\n2 0 a 1\n2 0 c 0\n")
    made = export_qrels(session, SLUG, made_at=NOW, to_keep=True)
    keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)


@pytest.fixture
def judged(session: Session) -> Session:
    judged_news(session)
    return session


@pytest.fixture
def released(judged: Session) -> Session:
    release_scores(judged, SLUG, at=LATER, moment=LATER, shown=ScoresShown.OWN, qrels="1", early=True)
    return judged


def shown(session: Session) -> PublicTask:
    return public_task(session, public_state(session, SLUG, at=LATER))


def results(session: Session) -> PublicResults:
    found = shown(session).results
    assert found is not None
    return found


def scores_of(found: PublicResults, order: str) -> list[tuple[int | None, str, tuple[float, ...]]]:
    return [(rank, one.name, one.scores) for rank, one in found.board.sorted_by(order)]


def test_nothing_is_public_at_first_nor_before_a_release_by_a_version(judged: Session) -> None:
    assert show_public(judged, SLUG).scores is PublicScores.NOTHING
    with pytest.raises(ConflictError, match="Nothing of the collection is public"):
        shown(judged)
    with pytest.raises(ConflictError, match="No scores are released yet"):
        change_public(judged, SLUG, EVERYTHING)
    judged.rollback()


def test_live_scores_are_never_public(judged: Session) -> None:
    release_scores(judged, SLUG, at=LATER, qrels="live", early=True)
    with pytest.raises(ConflictError, match="released scores are live"):
        change_public(judged, SLUG, EVERYTHING)


def test_scores_without_runs_are_not_public(judged: Session) -> None:
    release_scores(judged, SLUG, at=LATER, moment=NOW - timedelta(days=900), qrels="1", early=True)
    with pytest.raises(ConflictError, match="No active run was uploaded before"):
        change_public(judged, SLUG, EVERYTHING)


def test_a_public_collection_is_not_released_live_and_ends_with_the_release(released: Session) -> None:
    change_public(released, SLUG, EVERYTHING)
    with pytest.raises(ConflictError, match="refer to a kept version"):
        release_scores(released, SLUG, at=LATER, qrels="live")
    take_scores_back(released, SLUG)
    assert show_public(released, SLUG).scores is PublicScores.NOTHING


def test_a_release_in_the_future_is_not_public_yet(released: Session) -> None:
    change_public(released, SLUG, EVERYTHING)
    with pytest.raises(ConflictError, match="not released yet"):
        public_state(released, SLUG, at=LATER - timedelta(seconds=1))


def test_everything_is_all_scores_by_the_kept_version(released: Session) -> None:
    change_public(released, SLUG, EVERYTHING)
    before = results(released)
    labels(released, "kim", "1 0 c 1\n2 0 c 1\n1 0 a 0\n")
    change_collection(released, SLUG, CollectionChange(consensus_policy="highest"))
    after = results(released)
    assert before.board == after.board
    assert (shown(released).topics, after.judged, after.teams, after.version) == (2, 5, 2, 1)
    assert scores_of(after, "P@1") == [(1, "best", (1, 2)), (2, "middle", (0.5, 3)), (3, "worst", (0, 2))]
    # A count has no merit and so no rank; equal values are in the order of names.
    assert [(rank, name) for rank, name, _ in scores_of(after, after.board.measures[1])] == [
        (None, "middle"),
        (None, "best"),
        (None, "worst"),
    ]
    assert [(rank, name) for rank, name, _ in scores_of(after, BY_NAME)] == [
        (None, "best"),
        (None, "middle"),
        (None, "worst"),
    ]


def test_relative_is_no_score_at_all(released: Session) -> None:
    change_public(released, SLUG, PublicChange(scores=PublicScores.RELATIVE, veiled=False, measures=("P@1", "num_ret")))
    board = results(released).board
    # Medians by hand: 0.5 of all topics, 1 on the first, 0 on the second.
    assert {one.name: one.sides for one in board.runs} == {
        "best": (BesideMedian(1, 1, 0), None),
        "middle": (BesideMedian(0, 0, 0), None),
        "worst": (BesideMedian(-1, 0, 1), None),
    }
    assert {one.scores for one in board.runs} == {()}
    assert board.orders == (BY_NAME,)


def test_pseudonyms_are_those_of_the_kit(released: Session) -> None:
    change_public(released, SLUG, PublicChange(scores=PublicScores.EVERYTHING))
    veil = collection_veil(released, SLUG)
    board = results(released).board
    assert {(one.name, one.team) for one in board.runs} == {
        (veil.run(tag), veil.team(team)) for tag, team in TEAMS.items()
    }


def test_a_text_with_a_veiled_name_is_refused_unless_the_name_is_a_word(released: Session) -> None:
    change = PublicChange(scores=PublicScores.EVERYTHING, description="The BEST of the Reds.")
    with pytest.raises(FileRefusedError) as refused:
        change_public(released, SLUG, change)
    assert [str(one) for one in refused.value.problems] == [
        "description: The text has the name “Reds” of a team or run.",
        "description: The text has the name “best” of a team or run.",
    ]
    settings = change_public(released, SLUG, PublicChange(allowed=("best", "Reds")))
    assert settings.description == "The BEST of the Reds."
    assert shown(released).description == "The BEST of the Reds."


def test_guidelines_that_name_a_run_later_are_left_out(released: Session) -> None:
    change_public(released, SLUG, PublicChange(scores=PublicScores.EVERYTHING, guidelines=True, citation="We."))
    set_guidelines(released, SLUG, "Read it.", made_by_id=None, made_at=NOW)
    task = shown(released)
    assert (task.guidelines, task.citation) == ("Read it.", "We.")
    set_guidelines(released, SLUG, "Ignore worst.", made_by_id=None, made_at=NOW)
    assert shown(released).guidelines == ""


def test_the_slug_is_shown_for_a_title_that_names_a_run(released: Session) -> None:
    change_public(released, SLUG, PublicChange(scores=PublicScores.EVERYTHING))
    change_collection(released, SLUG, CollectionChange(title="News for Reds"))
    assert shown(released).title == SLUG


def test_a_withdrawn_run_is_gone_at_once(released: Session) -> None:
    change_public(released, SLUG, EVERYTHING)
    before = public_state(released, SLUG, at=LATER)
    withdraw_run(released, SLUG, "worst", at=LATER)
    assert public_state(released, SLUG, at=LATER) != before
    assert [one.name for one in results(released).board.runs] == ["best", "middle"]


def test_the_task_is_public_before_the_release_without_names_or_scores(judged: Session) -> None:
    open_registration(judged, SLUG, RegistrationChange(until=LATER), at=NOW)
    set_guidelines(judged, SLUG, "Read it.", made_by_id=None, made_at=NOW)
    change = PublicChange(scores=PublicScores.TASK, description="Best in class.", guidelines=True)
    assert change_public(judged, SLUG, change).scores is PublicScores.TASK
    early = public_state(judged, SLUG, at=NOW)
    task = public_task(judged, early)
    # “best” is a run, which no text can reveal as long as there are no results.
    assert (task.description, task.guidelines, task.topics) == ("Best in class.", "Read it.", 2)
    assert (task.registration_until, task.results, task.orders) == (LATER, None, ())
    assert (early.holds_at(LATER - timedelta(seconds=1)), early.holds_at(LATER)) == (True, False)
    assert shown(judged).registration_until is None


def test_the_task_stays_public_when_scores_are_withheld(released: Session) -> None:
    change_public(released, SLUG, PublicChange(scores=PublicScores.TASK))
    assert shown(released).results is None
    take_scores_back(released, SLUG)
    assert show_public(released, SLUG).scores is PublicScores.TASK
    release_scores(released, SLUG, at=LATER, qrels="live", early=True)
    assert shown(released).results is None


def test_names_in_texts_of_the_task_are_refused_when_scores_become_public(released: Session) -> None:
    change_public(released, SLUG, PublicChange(scores=PublicScores.TASK, description="The Reds take part."))
    with pytest.raises(FileRefusedError, match="Nothing was made public"):
        change_public(released, SLUG, PublicChange(scores=PublicScores.RELATIVE))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (PublicChange(measures=("nothing@",)), "nothing@"),
        (PublicChange(measures=tuple(f"P@{number}" for number in range(1, 10))), "at most 8 measures, not 9"),
        (PublicChange(citation="x" * 2_001), "at most 2000"),
    ],
)
def test_bad_values_are_refused(judged: Session, change: PublicChange, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        change_public(judged, SLUG, change)
