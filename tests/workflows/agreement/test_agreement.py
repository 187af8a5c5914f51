"""How far the judges agree, as judging goes on: what counts, what is left out, and that nothing is out of date."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from beginning import beginning
from build import NOW, SLUG, labels, member, news, pooled_news
from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from annotator.errors import NotFoundError
from annotator.evaluation.agreement.kappa import Weighting
from annotator.evaluation.agreement.many_judges import Level
from annotator.evaluation.agreement.report import Moment
from annotator.storage import Assignment, Judgement, PoolItem, Purpose, Topic, TopicState, User, UserKind
from annotator.storage.judging.leases import Decision
from annotator.workflows.agreement import agreement
from annotator.workflows.agreement.agreement import AgreementReport, By, Choice
from annotator.workflows.judging import judging, recording
from annotator.workflows.topics import topic_editing

JO = "1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 d 0\n2 0 a 0\n2 0 e 1\n"
KIM = "1 0 a 2\n1 0 b 0\n1 0 c 0\n1 0 d 0\n2 0 a 0\n2 0 e 1\n"


@beginning
def judged_twice(session: Session) -> None:
    """Five of six documents graded alike."""
    pooled_news(session, judgements_wanted=2)
    labels(session, "jo", JO)
    labels(session, "kim", KIM, name="kim.txt")


def judge(session: Session, name: str) -> User:
    return session.scalars(select(User).where(User.name == name)).one()


def alike(report: AgreementReport) -> tuple[int, int]:
    """Of the first pair: how many documents, and how many of them with the same grade."""
    pair = report.pairs[0]
    return pair.kappa.n, sum(row[place] for place, row in enumerate(pair.confusion))


def test_the_report_says_it_by_pair_topic_judge_and_grade(session: Session) -> None:
    judged_twice(session)
    report = agreement.agreement_report(session, SLUG)
    [pair] = report.pairs
    # P(A) = 5/6. jo: 0 three times, 1 twice, 2 once; kim: 4, 1, 1. P(E) = (3*4 + 2*1 + 1*1) / 36 = 15/36.
    assert pair.kappa.observed == pytest.approx(5 / 6)
    assert pair.kappa.expected == pytest.approx(15 / 36)
    assert str(pair.band) == "substantial"
    assert report.same.value == pytest.approx(5 / 6)
    assert (report.all.judgements, report.all.items, report.all.items_shared) == (12, 6, 6)
    assert [(one.topic, one.items_shared, one.same.value) for one in report.by_topic] == [("1", 4, 0.75), ("2", 2, 1.0)]
    assert [(one.judge, one.pairs) for one in report.by_judge] == [("jo", 6), ("kim", 6)]
    # jo gave 1 where kim gave 0: one sixth higher on average.
    assert report.by_judge[0].difference.value == pytest.approx(1 / 6)
    # Given seven times in all, 0 was met by another 0 six times; 1 twice of three; 2 always.
    assert [one.same.value for one in report.by_grade] == pytest.approx([6 / 7, 2 / 3, 1])


@pytest.mark.parametrize("by", By)
def test_every_part_is_a_table_of_plain_values(session: Session, by: By) -> None:
    judged_twice(session)
    headings, rows = agreement.agreement_report(session, SLUG).table(by)
    assert {len(row) for row in rows} <= {len(headings)}
    assert bool(rows) == (by != By.TIME)  # labels of files have no time of their own
    assert {type(cell) for row in rows for cell in row} <= {str, int, float, type(None)}


def test_weights_let_neighbouring_grades_agree_in_part(session: Session) -> None:
    judged_twice(session)
    report = agreement.agreement_report(session, SLUG, Choice(Weighting.LINEAR))
    # One of six differs by one grade of two: P(A) = 1 - (1/6 * 1/2).
    assert report.pairs[0].kappa.observed == pytest.approx(11 / 12)
    assert report.same.value == pytest.approx(5 / 6)


def test_some_topics_alone_are_compared_when_asked_for(session: Session) -> None:
    judged_twice(session)
    assert alike(agreement.agreement_report(session, SLUG, Choice(topics=("2",)))) == (2, 2)
    with pytest.raises(NotFoundError, match="no accepted topic “9”"):
        agreement.agreement_report(session, SLUG, Choice(topics=("2", "9")))


def test_without_two_judges_on_a_document_it_says_so(session: Session) -> None:
    news(session)
    assert said(agreement.agreement_report(session, SLUG)) == "There are no grades yet."


def test_one_judge_alone_is_told_so(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", JO)
    assert said(agreement.agreement_report(session, SLUG)) == "Only one judge has graded anything."


def said(report: AgreementReport) -> str:
    reason = report.all.alpha[Level.ORDINAL].reason
    assert reason is not None
    return str(reason.sentence)


def test_machines_are_left_out(session: Session) -> None:
    judged_twice(session)
    labels(session, "gpt", JO, name="gpt.txt")
    judge(session, "gpt").kind = UserKind.MACHINE
    session.flush()
    assert agreement.agreement_report(session, SLUG).judges == ("jo", "kim")


def test_an_adjudicator_is_no_judge_but_upholds_one(session: Session) -> None:
    judged_twice(session)
    labels(session, "ada", "1 0 c 1\n2 0 e 1\n", name="ada.txt")
    decides(session, "ada")
    report = agreement.agreement_report(session, SLUG)
    assert report.judges == ("jo", "kim")
    assert [(one.judge, one.decided, one.upheld) for one in report.upheld] == [("jo", 2, 2), ("kim", 2, 1)]
    assert agreement.documents_of_two(session, SLUG, ("ada", "jo"), most=9).count == 0


def decides(session: Session, name: str) -> None:
    """What this judge said was said as an adjudicator."""
    own = Assignment.judge_id == judge(session, name).id
    session.execute(update(Assignment).where(own).values(purpose=Purpose.ADJUDICATION))


def test_two_judges_are_shown_in_full_the_first_by_name_first(session: Session) -> None:
    judged_twice(session)
    labels(session, "lee", "1 0 a 0\n", name="lee.txt")
    report = agreement.pair_report(session, SLUG, "kim", "jo")
    assert (report.pair.first, report.pair.second, report.pair.kappa.n) == ("jo", "kim", 6)
    assert report.pair.confusion == [[3, 0, 0], [1, 1, 0], [0, 0, 1]]


def test_two_judges_without_a_document_in_common_have_a_page_and_a_reason(session: Session) -> None:
    judged_twice(session)
    member(session, "new")
    report = agreement.pair_report(session, SLUG, "new", "jo")
    assert (report.pair.first, report.pair.second, report.pair.kappa.n, report.over_time.moments) == (
        "jo",
        "new",
        0,
        (),
    )
    assert report.pair.kappa.reason is not None
    for second in ("jo", "nobody"):
        with pytest.raises(NotFoundError, match="no two judges"):
            agreement.pair_report(session, SLUG, "jo", second)


def test_the_documents_behind_a_number_are_listed(session: Session) -> None:
    judged_twice(session)
    found = agreement.documents_of_two(session, SLUG, ("jo", "kim"), (1, 0), most=9)
    assert [(row.topic, row.docno, row.first, row.second) for row in found.documents] == [("1", "c", 1, 0)]
    both = agreement.documents_of_two(session, SLUG, ("jo", "kim"), most=2, skip=4)
    assert (both.count, [row.docno for row in both.documents]) == (6, ["a", "e"])
    chosen = agreement.documents_of_two(session, SLUG, ("jo", "kim"), topics=("2",), most=9)
    assert chosen.count == 2
    labels(session, "bot", "1 0 a 2\n", name="bot.txt")
    session.execute(update(User).where(User.name == "bot").values(kind=UserKind.MACHINE))
    for judges, topics in (
        (("jo", "nobody"), ()),
        (("jo", "jo"), ()),
        (("bot", "jo"), ()),
        (("jo", "kim"), ("9",)),
    ):
        with pytest.raises(NotFoundError):
            agreement.documents_of_two(session, SLUG, judges, topics=topics, most=9)


def test_over_time_labels_of_files_are_left_out_and_counted(session: Session) -> None:
    judged_twice(session)
    ana, ben = member(session, "ana"), member(session, "ben")
    session.execute(update(PoolItem).values(judgements_wanted=4))
    for place, who in enumerate((ana, ana, ben, ben)):
        on_the_screen(session, who, place % 2, f"c{place}")
    report = agreement.agreement_report(session, SLUG)
    # Of the twelve grades of jo and kim, who would else share all six documents.
    assert report.over_time.left_out == 12
    assert len(report.over_time.moments) == report.table(By.TIME).rows[-1][0] == shared(session, "ana", "ben")
    assert report.all.items_shared == 6
    of_files = agreement.pair_report(session, SLUG, "jo", "kim")
    assert (of_files.over_time.moments, of_files.over_time.left_out) == ((), 12)
    half = agreement.pair_report(session, SLUG, "ana", "kim")
    assert (half.over_time.moments, half.over_time.left_out) == ((), 6)
    of_screen = agreement.pair_report(session, SLUG, "ana", "ben")
    assert of_screen.over_time.left_out == 0
    assert of_screen.over_time.moments[-1] == Moment(of_screen.pair.kappa.n, of_screen.pair.kappa.value)


def shared(session: Session, first: str, second: str) -> int:
    return agreement.documents_of_two(session, SLUG, (first, second), most=9).count


def on_the_screen(session: Session, judge: int, grade: int, client_id: str, *, at: datetime = NOW) -> None:
    """Judge the next document of topic 1; a browser without scripts sends no seconds."""
    task = judging.next_task(session, SLUG, "1", judge, now=at)
    assert task is not None
    recording.record_judgement(
        session, SLUG, task.assignment_id, judge, Decision(grade), client_id=client_id, judged_at=at
    )


# What is kept between requests


def change(session: Session) -> tuple[int, int]:
    """Kim grades c as jo did."""
    labels(session, "kim", "1 0 c 1\n", name="again.txt")
    return 6, 6


def change_twice(session: Session) -> tuple[int, int]:
    """And back."""
    change(session)
    labels(session, "kim", "1 0 c 2\n", name="twice.txt")
    return 6, 5


def judge_more(session: Session) -> tuple[int, int]:
    """A third judge, who comes before the others by name."""
    labels(session, "ada", "1 0 a 2\n1 0 b 1\n", name="ada.txt")
    return 2, 1


def say_that_it_cannot_be_judged(session: Session) -> tuple[int, int]:
    """As if the grade had been undone."""
    own = (Judgement.judge_id == judge(session, "kim").id) & Judgement.current
    last = session.scalars(select(Judgement).where(own).order_by(Judgement.id.desc())).first()
    assert last is not None
    last.current = False
    session.flush()
    return 5, 4


def drop_a_topic(session: Session) -> tuple[int, int]:
    topic_editing.drop_topics(session, SLUG, ["2"], reason="too easy")
    return 4, 3


def become_a_machine(session: Session) -> tuple[int, int]:
    """Then jo is compared with the next."""
    labels(session, "lee", "1 0 a 0\n1 0 b 0\n", name="lee.txt")
    judge(session, "kim").kind = UserKind.MACHINE
    session.flush()
    return 2, 1


@pytest.mark.parametrize(
    "happens",
    [change, change_twice, judge_more, say_that_it_cannot_be_judged, drop_a_topic, become_a_machine],
    ids=lambda happens: happens.__name__,
)
def test_whatever_happens_counts_at_once(session: Session, happens: Callable[[Session], tuple[int, int]]) -> None:
    judged_twice(session)
    assert alike(agreement.agreement_report(session, SLUG)) == (6, 5)
    expected = happens(session)
    assert alike(agreement.agreement_report(session, SLUG)) == expected


def test_a_judgement_on_the_screen_counts_at_once(session: Session) -> None:
    pooled_news(session, judgements_wanted=3)
    jo, kim = member(session, "jo"), member(session, "kim")
    for number, who in enumerate((jo, kim, jo, kim)):
        agreement.agreement_report(session, SLUG)
        on_the_screen(session, who, 1, f"c{number}", at=NOW + timedelta(minutes=number))
        report = agreement.agreement_report(session, SLUG)
        assert report.all.judgements == number + 1


def test_a_judgement_with_an_older_id_that_comes_to_light_later_counts(session: Session) -> None:
    # On PostgreSQL a transaction that took its id first may commit last.
    judged_twice(session)
    labels(session, "lee", "1 0 a 2\n1 0 b 2\n", name="lee.txt")
    lee = judge(session, "lee").id
    first = session.scalars(select(Judgement).where(Judgement.judge_id == lee).order_by(Judgement.id)).first()
    assert first is not None
    values = {column.name: getattr(first, column.name) for column in Judgement.__table__.columns}
    session.execute(delete(Judgement).where(Judgement.id == first.id))
    assert agreement.agreement_report(session, SLUG).all.judgements == 13
    session.execute(insert(Judgement).values(values))
    assert agreement.agreement_report(session, SLUG).all.judgements == 14


def test_a_draft_topic_does_not_count(session: Session) -> None:
    judged_twice(session)
    agreement.agreement_report(session, SLUG)
    session.execute(update(Topic).where(Topic.number == "1").values(state=TopicState.DRAFT))
    assert alike(agreement.agreement_report(session, SLUG)) == (2, 2)
