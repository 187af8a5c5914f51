"""Judging while a strategy chooses, and the files of a sample, through the pages."""

import pytest
from adaptive import RELEVANT, adaptive_news, chosen
from build import SLUG, build, labels, member, news, run, topic_file
from sqlalchemy import update
from visiting import Visit, hidden, words

from annotator.storage import Database, JudgingMode, Role, Topic
from annotator.storage.people.accounts import find_user
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.collections.collection import close_collection
from annotator.workflows.collections.queue_settings import QueueChange, change_queue
from annotator.workflows.pools.pool_replay import replay_choices

COLLECTION = f"/collections/{SLUG}"


def test_a_judge_goes_on_until_the_budget_is_used_up(visit: Visit, database: Database) -> None:
    adaptive_news(database, "maxmean", {"budget": 9, "start_depth": 1})
    jo = visit("jo")
    page = jo.get(f"{COLLECTION}/judge/topics/1")
    for judged in range(3 + 9):
        # Those that are still to be chosen wait, too.
        assert f"{judged + 1} of 12" in words(page)
        address = page.text.partition('id="grading"')[2].partition('action="')[2].partition('"')[0]
        docno = words(page).partition("Title of ")[2][:1]
        answer = jo.post(address, grade=str(int(docno in RELEVANT)), client_id=hidden(page, "client_id"))
        page = jo.get(answer.location)
    assert "Nothing left for you in topic 1" in words(page)
    with database.reading() as session:
        assert len(chosen(session)) == 9
        assert replay_choices(session, SLUG).differences == ()


def test_a_topic_without_a_start_waits_for_its_judges(visit: Visit, database: Database) -> None:
    adaptive_news(database, "mtf", {"budget": 4, "start_depth": 0})
    jo = visit("jo")
    assert f"{COLLECTION}/judge/topics/1" in jo.get(f"{COLLECTION}/judge").text
    assert "1 of 4" in words(jo.get(f"{COLLECTION}/judge/topics/1"))


@pytest.mark.parametrize("owner", ["kim", None])
def test_a_visit_to_the_topic_of_another_spends_no_budget(visit: Visit, database: Database, owner: str | None) -> None:
    adaptive_news(database, "mtf", {"budget": 4, "start_depth": 0})
    with database.transaction() as session:
        change_queue(session, SLUG, QueueChange(judging_mode=JudgingMode.OWNED))
        kim = find_user(session, "kim").id
        session.execute(update(Topic).values(owner_id=kim if owner else None))
    jo = visit("jo")
    assert "Nothing left for you in topic 1" in words(jo.get(f"{COLLECTION}/judge/topics/1"))
    assert f"{COLLECTION}/judge/topics/1" not in jo.get(f"{COLLECTION}/judge").text
    with database.reading() as session:
        assert chosen(session) == ""
    if owner:
        assert "1 of 4" in words(visit("kim").get(f"{COLLECTION}/judge/topics/1"))


def test_when_the_judging_ends_nothing_is_chosen_and_pages_say_so(visit: Visit, database: Database) -> None:
    adaptive_news(database, "mtf", {"budget": 4, "start_depth": 0})
    with database.transaction() as session:
        close_collection(session, SLUG)
    jo = visit("jo")
    assert jo.get(f"{COLLECTION}/judge").status_code == 200
    assert jo.get(f"{COLLECTION}/judge/topics/1").status_code == 409
    with database.reading() as session:
        assert chosen(session) == ""


@pytest.mark.parametrize(("strata", "is_uniform"), [("1-2:1, 3-4:0.5", False), ("1-4:0.5", True)])
def test_the_files_of_a_sample_are_offered_with_what_they_are_for(
    visit: Visit, database: Database, strata: str, *, is_uniform: bool
) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
        run(session, "alpha", {"1": ["a", "b", "c", "d"]})
        build(session, PoolRequest("stratified", {"strata": strata}))
        member(session, "ola", Role.ORGANISER)
        for docno in "abcd":
            labels(session, "nist", f"1 0 {docno} 1\n", add_to_pool=True, name=docno)
    ola = visit("ola")
    page = ola.get(f"{COLLECTION}/qrels")
    assert f'href="{COLLECTION}/qrels/prels"' in page.text
    assert (f'href="{COLLECTION}/qrels/infap"' in page.text) is is_uniform
    assert ("its estimates would be biased" in words(page)) is not is_uniform
    lines = ola.get(f"{COLLECTION}/qrels/prels").text.splitlines()
    assert [line.split()[2] for line in lines] == ["a", "b", "c", "d"]
    assert {len(line.split()) for line in lines} == {5}
    assert ola.get(f"{COLLECTION}/qrels/prels/manifest").json["pool_version"] == 1  # type: ignore[index]  # it is JSON
    infap = ola.get(f"{COLLECTION}/qrels/infap")
    if is_uniform:
        assert {len(line.split()) for line in infap.text.splitlines()} == {4}
    else:
        assert infap.status_code == 409


def test_without_a_sample_none_is_offered(visit: Visit, news: str) -> None:
    assert "qrels/prels" not in visit("ola").get(f"{news}/qrels").text
