"""Documents whose judges differ: which are listed, in which order, and what is said of them."""

import csv
import io
import json
from datetime import datetime, timedelta

import pytest
from beginning import beginning
from build import NOW, SLUG, document_file, labels, news, pool, pooled_news, run, topic_file
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, NotFoundError
from annotator.storage import (
    Assignment,
    AssignmentState,
    Collection,
    Document,
    Evidence,
    Judgement,
    PoolItem,
    Purpose,
    Topic,
    TopicState,
    User,
    UserKind,
)
from annotator.storage.people.accounts import find_or_add_user
from annotator.workflows.agreement.disagreements import (
    ROWS_A_PAGE,
    Disagreement,
    DisagreementFilter,
    disagreements_csv,
    disagreements_json,
    list_disagreements,
    page_of_disagreements,
)

ALL = DisagreementFilter()


@pytest.fixture
def judged(session: Session) -> Session:
    """A session over judgements on which people differ."""
    judged_news(session)
    return session


@beginning
def judged_news(session: Session) -> None:
    """Topic 1: a is 0 and 2, b 1 and 2, c 1 and 1, d 0 and 1 and 1; topic 2: a is 1 and 0, e by one alone."""
    pooled_news(session, judgements_wanted=3)
    labels(session, "jo", "1 0 a 0\n1 0 b 1\n1 0 c 1\n1 0 d 0\n2 0 a 1\n2 0 e 2\n")
    labels(session, "kim", "1 0 a 2\n1 0 b 2\n1 0 c 1\n1 0 d 1\n2 0 a 0\n", name="k.txt")
    labels(session, "lee", "1 0 d 1\n", name="l.txt")


def found(session: Session, wanted: DisagreementFilter = ALL) -> list[tuple[str, str, int]]:
    """Topic, docno and how many grades apart."""
    return [(row.topic, row.docno, row.distance) for row in list_disagreements(session, SLUG, wanted)]


def one(session: Session, docno: str) -> Disagreement:
    """The disagreement on a document of topic 1."""
    return next(
        row for row in list_disagreements(session, SLUG, DisagreementFilter(topics=("1",))) if row.docno == docno
    )


def item(session: Session, docno: str) -> PoolItem:
    """The item of a document in topic 1."""
    return session.scalars(
        select(PoolItem)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(Topic.number == "1", Document.docno == docno)
    ).one()


def word(session: Session, docno: str, judge: str) -> Judgement:
    """What a judge says of a document of topic 1."""
    return session.scalars(
        select(Judgement)
        .join(User, User.id == Judgement.judge_id)
        .where(Judgement.pool_item_id == item(session, docno).id, User.name == judge, Judgement.current)
    ).one()


def decide(
    session: Session, docno: str, judge: str, grade: int, *, at: datetime = NOW + timedelta(days=1)
) -> Judgement:
    """An adjudicator's word."""
    judge_id = find_or_add_user(session, judge, NOW).id
    held = Assignment(
        pool_item_id=item(session, docno).id,
        judge_id=judge_id,
        state=AssignmentState.DONE,
        purpose=Purpose.ADJUDICATION,
        drawn_at=at,
        lease_until=at,
    )
    session.add(held)
    session.flush()
    said = Judgement(
        client_id=f"{judge} of {docno}",
        assignment_id=held.id,
        pool_item_id=held.pool_item_id,
        judge_id=judge_id,
        grade=grade,
        judged_at=at,
        received_at=at,
    )
    session.add(said)
    session.flush()
    return said


def test_the_worst_come_first_across_the_line_then_by_distance_then_by_topic(judged: Session) -> None:
    assert found(judged) == [("1", "a", 2), ("1", "d", 1), ("2", "a", 1), ("1", "b", 1)]
    assert [row.is_across for row in list_disagreements(judged, SLUG, ALL)] == [True, True, True, False]


def test_what_the_collection_counts_as_relevant_is_the_line(judged: Session) -> None:
    judged.execute(update(Collection).values(relevant_from=2))
    assert found(judged) == [("1", "a", 2), ("1", "b", 1), ("1", "d", 1), ("2", "a", 1)]
    assert found(judged, DisagreementFilter(only_across=True)) == [("1", "a", 2), ("1", "b", 1)]


def test_the_whole_is_counted_whatever_is_wanted(judged: Session) -> None:
    page = page_of_disagreements(judged, SLUG, DisagreementFilter(topics=("2",)))
    survey = page.survey
    assert (survey.compared, survey.differing, survey.across, survey.undecided) == (5, 4, 3, 4)
    assert survey.topics == (("1", 3), ("2", 1))
    assert survey.judges == ("jo", "kim", "lee")


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (DisagreementFilter(topics=("2",)), [("2", "a", 1)]),
        (DisagreementFilter(topics=("1", "2"), only_across=True), [("1", "a", 2), ("1", "d", 1), ("2", "a", 1)]),
        (DisagreementFilter(least_distance=2), [("1", "a", 2)]),
        (DisagreementFilter(only_across=True), [("1", "a", 2), ("1", "d", 1), ("2", "a", 1)]),
        (DisagreementFilter(judges=("lee",)), [("1", "d", 1)]),
        (DisagreementFilter(judges=("jo", "lee")), [("1", "d", 1)]),
        (DisagreementFilter(judges=("kim", "lee")), []),  # of d both say 1, whatever jo says
        (DisagreementFilter(topics=("1",), judges=("jo", "kim"), only_across=True), [("1", "a", 2), ("1", "d", 1)]),
    ],
)
def test_they_are_narrowed_by_topic_judges_and_how_far_apart(
    judged: Session, wanted: DisagreementFilter, expected: list[tuple[str, str, int]]
) -> None:
    assert found(judged, wanted) == expected
    assert page_of_disagreements(judged, SLUG, wanted).total == len(expected)


def test_every_word_is_told_with_note_evidence_and_moment(judged: Session) -> None:
    said = word(judged, "a", "kim")
    said.note = "It says so at the end."
    judged.add_all(
        [
            Evidence(judgement_id=said.id, start=9, end=12, text="end"),
            Evidence(judgement_id=said.id, start=0, end=4, text="says"),
        ]
    )
    word(judged, "d", "lee").grade = None
    word(judged, "d", "lee").cannot_judge = "broken"
    judged.flush()
    jo, kim = one(judged, "a").words
    assert (jo.judge, jo.decision.grade, jo.evidence, jo.judged_at) == ("jo", 0, (), NOW)
    assert (kim.judge, kim.decision.grade, kim.decision.note) == ("kim", 2, "It says so at the end.")
    assert kim.evidence == ("says", "end")
    # Who could not judge differs from nobody, and is told beside those who do.
    assert [each.decision.cannot_judge for each in one(judged, "d").words] == [None, None, "broken"]


def test_the_present_word_counts(judged: Session) -> None:
    labels(judged, "jo", "1 0 a 2\n", name="again.txt")
    assert ("1", "a", 2) not in found(judged)


def test_adjudicators_decide_and_do_not_differ(judged: Session) -> None:
    decide(judged, "a", "ada", 1)
    decide(judged, "c", "ada", 2)  # on which the judges agree
    assert found(judged, DisagreementFilter(only_undecided=True)) == [("1", "d", 1), ("2", "a", 1), ("1", "b", 1)]
    row = one(judged, "a")
    assert row.is_decided
    assert [(each.judge, each.adjudicates) for each in row.words] == [("jo", False), ("kim", False), ("ada", True)]
    assert len(found(judged)) == 4
    assert page_of_disagreements(judged, SLUG, ALL).survey.undecided == 3


def test_the_adjudicators_word_is_told_last_whenever_it_was_said(judged: Session) -> None:
    decide(judged, "d", "ada", 1)
    labels(judged, "mo", "1 0 d 2\n", name="m.txt")
    assert [each.judge for each in one(judged, "d").words] == ["jo", "kim", "lee", "mo", "ada"]


def test_machines_are_left_out(judged: Session) -> None:
    labels(judged, "gpt", "1 0 c 0\n1 0 a 1\n", name="g.txt")
    judged.execute(update(User).where(User.name == "gpt").values(kind=UserKind.MACHINE))
    assert ("1", "c", 1) not in found(judged)
    assert [each.judge for each in one(judged, "a").words] == ["jo", "kim"]
    assert "gpt" not in page_of_disagreements(judged, SLUG, ALL).survey.judges
    with pytest.raises(NotFoundError):
        found(judged, DisagreementFilter(judges=("gpt",)))


def test_dropped_topics_do_not_count(judged: Session) -> None:
    judged.execute(update(Topic).where(Topic.number == "1").values(state=TopicState.DROPPED))
    assert found(judged) == [("2", "a", 1)]
    with pytest.raises(NotFoundError, match="1"):
        found(judged, DisagreementFilter(topics=("1",)))


def test_what_was_only_carried_over_is_not_listed_and_is_marked_beside_own_words(judged: Session) -> None:
    # As if b had the text of a: kim's word on b is that on a, and jo's is jo's own.
    carried, origin = word(judged, "b", "kim"), word(judged, "a", "kim")
    carried.carried_from_id = origin.id
    judged.flush()
    assert [(each.judge, each.is_carried) for each in one(judged, "b").words] == [("jo", False), ("kim", True)]
    word(judged, "b", "jo").carried_from_id = word(judged, "a", "jo").id
    judged.flush()
    assert [docno for _, docno, _ in found(judged)] == ["a", "d", "a"]


def test_what_is_carried_over_from_an_adjudicators_word_decides_too(judged: Session) -> None:
    origin = decide(judged, "a", "ada", 1)
    copy = decide(judged, "b", "ada", 1)
    judged.get_one(Assignment, copy.assignment_id).purpose = Purpose.CARRIED
    copy.carried_from_id = origin.id
    judged.flush()
    row = one(judged, "b")
    assert row.is_decided
    assert [(each.judge, each.adjudicates) for each in row.words] == [("jo", False), ("kim", False), ("ada", True)]


def test_the_right_grade_of_a_test_question_is_told(judged: Session) -> None:
    item(judged, "a").known_grade = 2
    judged.flush()
    assert (one(judged, "a").known_grade, one(judged, "d").known_grade) == (2, None)


def test_a_document_without_text_says_so(judged: Session) -> None:
    judged.execute(update(Document).where(Document.docno == "a").values(body=None))
    assert (one(judged, "a").has_text, one(judged, "b").has_text) == (False, True)


@pytest.mark.parametrize(
    ("wanted", "kind"),
    [
        (DisagreementFilter(topics=("9",)), NotFoundError),
        (DisagreementFilter(judges=("nobody",)), NotFoundError),
        (DisagreementFilter(judges=("jo", "nobody")), NotFoundError),
        (DisagreementFilter(judges=("jo", "jo")), InvalidValueError),
        (DisagreementFilter(judges=("jo", "kim", "lee")), InvalidValueError),
        (DisagreementFilter(least_distance=0), InvalidValueError),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused(
    judged: Session, wanted: DisagreementFilter, kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        list_disagreements(judged, SLUG, wanted)
    with pytest.raises(kind):
        page_of_disagreements(judged, SLUG, wanted)


def test_there_are_pages_and_the_nearest_stands_for_one_that_is_not_there(session: Session) -> None:
    docnos = [f"d{number:02}" for number in range(ROWS_A_PAGE + 3)]
    news(session)
    topic_file(session, "1\tfirst topic\n")
    document_file(session, docnos)
    run(session, "alpha", {"1": docnos})
    pool(session, depth=100)
    labels(session, "jo", "".join(f"1 0 {docno} 0\n" for docno in docnos))
    labels(session, "kim", "".join(f"1 0 {docno} 1\n" for docno in docnos), name="k.txt")
    pages = [page_of_disagreements(session, SLUG, ALL, number) for number in (1, 2, 3, 0)]
    assert [(page.page, page.pages, len(page.cards)) for page in pages] == [
        (1, 2, ROWS_A_PAGE),
        (2, 2, 3),
        (2, 2, 3),
        (1, 2, ROWS_A_PAGE),
    ]
    assert sorted(card.row.docno for page in pages[:2] for card in page.cards) == docnos


def test_without_judgements_there_are_none(session: Session) -> None:
    pooled_news(session)
    page = page_of_disagreements(session, SLUG, ALL)
    assert (page.cards, page.total, page.pages) == ((), 0, 1)
    assert (page.survey.compared, page.survey.judges) == (0, ())
    labels(session, "jo", "1 0 a 0\n1 0 b 1\n")
    assert page_of_disagreements(session, SLUG, ALL).survey.judges == ("jo",)


def test_as_a_file_there_is_a_line_for_each_word(judged: Session) -> None:
    said = word(judged, "a", "kim")
    said.note = "=1+1"
    judged.add(Evidence(judgement_id=said.id, start=0, end=4, text="Äg“"))
    judged.flush()
    rows = list_disagreements(judged, SLUG, ALL)
    lines = list(csv.DictReader(io.StringIO(disagreements_csv(rows))))
    assert len(lines) == 2 + 3 + 2 + 2
    assert lines[1] == {
        "topic": "1",
        "docno": "a",
        "title": "Title of a",
        "distance": "2",
        "across": "True",
        "decided": "False",
        "known_grade": "",
        "judge": "kim",
        "grade": "2",
        "cannot_judge": "",
        "note": "'=1+1",
        "evidence": '["Äg“"]',
        "judged_at": NOW.isoformat(),
        "adjudicates": "False",
        "carried": "False",
    }
    objects = json.loads(disagreements_json(rows))
    assert [len(each["words"]) for each in objects] == [2, 3, 2, 2]
    assert objects[0]["words"][1]["note"] == "=1+1"
    assert (objects[0]["distance"], objects[0]["is_across"]) == (2, True)
