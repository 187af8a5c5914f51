"""Quick looks at a draft: whose they are, what they tell, and that they are no judgements."""

from datetime import timedelta

import pytest
from build import NOW, SLUG, document_file, news, run, topic_file, user
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.evaluation.qrels.topic_flags import Promise
from annotator.storage import Judgement, PoolItem, QuickLook, Run
from annotator.workflows.topics import topic_editing, topic_trying
from annotator.workflows.topics.topic_editing import TopicWords
from annotator.workflows.topics.topic_trying import MOST_LOOKED_AT, LookTally

DOCNOS = [f"d{index:02}" for index in range(30)]


@pytest.fixture
def ola(session: Session) -> int:
    """An organiser of a collection with the draft 7, of which a run has thirty documents."""
    news(session)
    topic_file(session)
    topic_editing.add_draft(session, SLUG, "7", TopicWords("a draft"))
    document_file(session, DOCNOS[:29])
    run(session, "base", {"7": DOCNOS, "1": ["d00"]})
    run(session, "other", {"1": ["d00"]})
    return user(session, "ola")


def look(session: Session, person_id: int, docno: str, *, relevant: bool, minutes: int = 0) -> None:
    topic_trying.record_look(
        session,
        SLUG,
        "7",
        docno,
        looks_relevant=relevant,
        looked_by_id=person_id,
        looked_at=NOW + timedelta(minutes=minutes),
    )


def test_a_draft_is_tried_by_the_top_of_a_run_in_force_that_answers_it(session: Session, ola: int) -> None:
    assert topic_trying.runs_to_try(session, SLUG, "7") == ["base"]
    assert topic_trying.top_of_run(session, SLUG, "7", "base") == DOCNOS[:MOST_LOOKED_AT]
    assert ola
    for tag in ("other", "nosuch"):
        with pytest.raises(NotFoundError, match=f"No active run “{tag}”"):
            topic_trying.top_of_run(session, SLUG, "7", tag)
    session.scalars(select(Run).where(Run.tag == "base")).one().withdrawn_at = NOW
    assert topic_trying.runs_to_try(session, SLUG, "7") == []
    with pytest.raises(NotFoundError, match="No active run “base”"):
        topic_trying.top_of_run(session, SLUG, "7", "base")


def test_a_glance_shows_the_beginning_and_what_this_person_said(session: Session, ola: int) -> None:
    kim = user(session, "kim")
    look(session, ola, "d01", relevant=True)
    look(session, kim, "d01", relevant=False)
    look(session, kim, "d00", relevant=True)
    [first, second, third] = topic_trying.glance_at(session, SLUG, "7", ["d01", "d00", "d29", "unheard-of"], ola)
    assert (first.docno, first.title, first.beginning) == ("d01", "Title of d01", "Text of d01.")
    assert [glance.looks_relevant for glance in (first, second, third)] == [True, None, None]
    assert third.beginning is None


def test_a_later_look_replaces_the_same_persons_and_everybody_has_a_tally(session: Session, ola: int) -> None:
    kim = user(session, "kim")
    assert topic_trying.look_tallies(session, SLUG) == {}
    look(session, ola, "d00", relevant=True)
    look(session, ola, "d00", relevant=False, minutes=1)
    look(session, ola, "d01", relevant=True, minutes=2)
    look(session, kim, "d00", relevant=True, minutes=3)
    assert topic_trying.look_tallies(session, SLUG) == {
        "7": [
            LookTally("kim", 1, 1, NOW + timedelta(minutes=3)),
            LookTally("ola", 2, 1, NOW + timedelta(minutes=2)),
        ]
    }
    assert len(session.scalars(select(QuickLook.id)).all()) == 3


def test_a_tally_says_whether_the_topic_is_promising(session: Session, ola: int) -> None:
    for docno in DOCNOS[:10]:
        look(session, ola, docno, relevant=docno < "d03")
    [tally] = topic_trying.look_tallies(session, SLUG)["7"]
    assert (tally.looked, tally.relevant, tally.promise) == (10, 3, Promise.GOOD)


def test_a_quick_look_is_no_judgement(session: Session, ola: int) -> None:
    look(session, ola, "d00", relevant=True)
    assert session.scalars(select(Judgement.id)).all() == []
    assert session.scalars(select(PoolItem.id)).all() == []
    assert topic_editing.change_words(session, SLUG, "7", TopicWords("other words"))


def test_only_drafts_are_looked_at_and_their_looks_stay(session: Session, ola: int) -> None:
    look(session, ola, "d00", relevant=True)
    with pytest.raises(NotFoundError, match="no document “zz”"):
        look(session, ola, "zz", relevant=True)
    topic_editing.accept_topics(session, SLUG, ["7"])
    with pytest.raises(ConflictError, match="no draft any more"):
        look(session, ola, "d01", relevant=True)
    assert [tally.looked for tally in topic_trying.look_tallies(session, SLUG)["7"]] == [1]
