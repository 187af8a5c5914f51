"""What waits for one person in each of their collections, and in how few queries."""

from datetime import timedelta

from build import NOW, SLUG, labels, member, pooled_news
from sqlalchemy import event, select
from sqlalchemy.orm import Session

from annotator.storage import Collection, Role
from annotator.workflows.agreement.adjudication import topics_to_adjudicate
from annotator.workflows.agreement.own_work import OwnWork, own_work
from annotator.workflows.collections.collection import close_collection
from annotator.workflows.collections.next_collection import copy_collection
from annotator.workflows.judging import judging, questions
from annotator.workflows.people.members import roles_everywhere

LATER = NOW + timedelta(hours=1)


def work_of(session: Session, user_id: int) -> dict[str, OwnWork]:
    return own_work(session, user_id, roles_everywhere(session, user_id), now=LATER, to_come={})


def test_it_is_what_the_pages_of_the_collections_say(session: Session) -> None:
    pooled_news(session, judgements_wanted=2)
    labels(session, "lee", "1 0 a 2\n1 0 b 1\n")
    labels(session, "kim", "1 0 a 0\n1 0 b 1\n")
    jo, ada, ola = (
        member(session, "jo"),
        member(session, "ada", Role.ADJUDICATOR),
        member(session, "ola", Role.ORGANISER),
    )
    questions.ask(session, SLUG, jo, "Why?", client_id="q1", asked_at=NOW)
    topics = judging.topics_to_judge(session, SLUG, jo, now=LATER)
    waiting = sum(topic.waiting for topic in topics)
    assert waiting
    assert work_of(session, jo) == {SLUG: OwnWork(waiting, sum(topic.waiting > 0 for topic in topics))}
    disputed = sum(topic.waiting for topic in topics_to_adjudicate(session, SLUG, ada))
    assert work_of(session, ada) == {SLUG: OwnWork(disputes=disputed)} == {SLUG: OwnWork(disputes=1)}
    assert work_of(session, ola) == {SLUG: OwnWork(questions=1)}
    to_come = {SLUG: {"1": 7}}
    chosen = own_work(session, jo, roles_everywhere(session, jo), now=LATER, to_come=to_come)
    assert chosen[SLUG].documents == waiting + 7
    close_collection(session, SLUG)
    assert work_of(session, jo) == {}


def test_many_collections_take_as_many_queries_as_one(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    counted: list[str] = []
    event.listen(session.connection(), "before_cursor_execute", lambda *told: counted.append(told[2]))

    def queries() -> int:
        roles = roles_everywhere(session, jo)
        counted.clear()
        own_work(session, jo, roles, now=LATER, to_come={})
        return len(counted)

    one = queries()
    for number in range(3):
        copy_collection(session, SLUG, f"other-{number}", title=None, with_documents=False, organiser="jo", at=NOW)
        member(session, "jo", slug=f"other-{number}")
    assert len(session.scalars(select(Collection)).all()) == 4
    assert queries() == one
