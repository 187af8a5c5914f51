"""What I judged and what I put off, as pages."""

from build import NOW, SLUG, labels
from sqlalchemy import select
from visiting import Visit, words

from annotator.storage import Assignment, AssignmentState, Database, JudgingMode, PoolItem, Topic, User
from annotator.storage.judging.leases import give_back, lend
from annotator.storage.tables.judging import LEASE
from annotator.web.site.context import now
from annotator.workflows.collections.queue_settings import QueueChange, change_queue
from annotator.workflows.judging.topic_owners import assign_topics


def judge_some(database: Database) -> None:
    """Jo judges a, b and e, and a twice; Kim judges c."""
    with database.transaction() as session:
        labels(session, "jo", "1 0 a 2\n1 0 b 0\n2 0 e 1\n")
        labels(session, "jo", "1 0 a 1\n", name="2.txt")
        labels(session, "kim", "1 0 c 1\n", name="k.txt")


def test_a_judge_looks_for_what_they_judged_and_sees_what_they_said_before(
    visit: Visit, news: str, database: Database
) -> None:
    judge_some(database)
    jo = visit("jo")
    page = jo.get(f"{news}/judge/judged")
    assert "Documents you judged: 3" in words(page)
    assert "Title of c" not in page.text
    assert "Earlier: 1 · a 2 · Highly relevant" in words(page)
    narrowed = words(jo.get(f"{news}/judge/judged?q=title+of&grade=0"))
    assert "Documents found: 1" in narrowed
    assert "Title of b" in narrowed
    assert "Title of e" not in narrowed
    assert "Title of e" in words(jo.get(f"{news}/judge/judged?topic=2"))
    assert "No matching judgements." in words(jo.get(f"{news}/judge/judged?grade=cannot"))


def test_an_address_that_makes_no_sense_narrows_nothing(visit: Visit, news: str, database: Database) -> None:
    judge_some(database)
    jo = visit("jo")
    for query in ("grade=x", "grade=99", "page=-1", "page=many", "grade=²", "page=99999999999"):
        assert "Documents you judged: 3" in words(jo.get(f"{news}/judge/judged?{query}")), query


def test_what_was_put_off_is_listed_and_taken_up_again(visit: Visit, news: str, database: Database) -> None:
    jo = visit("jo")
    assert "You have no deferred documents" in words(jo.get(f"{news}/judge/put-off"))
    with database.transaction() as session:
        judge_id = session.scalars(select(User.id).where(User.name == "jo")).one()
        items = session.scalars(select(PoolItem.id).order_by(PoolItem.id).limit(2)).all()
        lend(session, items, judge_id, NOW)
        first, second = session.scalars(select(Assignment).order_by(Assignment.pool_item_id)).all()
        for assignment in (first, second):
            assignment.state, assignment.put_off_at = AssignmentState.LATER, NOW
        session.flush()
        give_back(session, Assignment.id == second.id)
        first_id, second_id = first.id, second.id
    page = jo.get(f"{news}/judge/put-off")
    assert "Deferred documents: 2" in words(page)
    assert f'href="{news}/judge/assignments/{first_id}"' in page.text
    taken = jo.post(f"{news}/judge/put-off/{second_id}")
    assert taken.status_code == 303
    assert taken.headers["Location"] == f"{news}/judge/assignments/{second_id + 1}"
    assert "Deferred documents: 1" in words(jo.get(f"{news}/judge/put-off"))
    assert visit("kim").post(f"{news}/judge/put-off/{first_id}").status_code == 404


def test_the_overview_tells_a_judge_their_own_topics_and_what_they_put_off(
    visit: Visit, news: str, database: Database
) -> None:
    jo = visit("jo")
    assert "This topic is yours." not in words(jo.get(f"{news}/judge"))
    with database.transaction() as session:
        change_queue(session, SLUG, QueueChange(judging_mode=JudgingMode.OWNED))
        assign_topics(session, SLUG, {"2": "jo"})
        jo_id = session.scalars(select(User.id).where(User.name == "jo")).one()
        of_second = select(PoolItem.id).join(Topic, Topic.id == PoolItem.topic_id).where(Topic.number == "2")
        lend(session, [session.scalars(of_second.limit(1)).one()], jo_id, NOW)
        assignment = session.scalars(select(Assignment)).one()
        assignment.state, assignment.put_off_at = AssignmentState.LATER, now()
        assignment.lease_until = now() + LEASE
    page = jo.get(f"{news}/judge")
    assert "2 second topic This topic is yours. 0 2 1" in words(page)
    assert page.text.count(f'href="{news}/judge/put-off">1</a>') == 1
