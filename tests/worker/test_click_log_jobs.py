"""A large click log is studied by the worker, and its page leads on to what was found."""

from datetime import datetime

import pytest
from clicking import interleaving_text, log_text
from sqlalchemy.orm import Session
from visiting import file, words
from worker.at_work import N, Visit, job_of, state, work

from annotator.clicks.evaluation.logs import log_sources
from annotator.clicks.workflows.click_logs import LogKind, list_logs
from annotator.storage import Database, JobState
from annotator.workflows.site import jobs


def test_a_log_is_studied_by_the_worker(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    said = {"name": "March", "kind": "comparison", "days": "7", "share": "0.5"}
    page = job_of(ola.post(f"{N}/clicks", files=[file("log.csv", log_text())], **said))
    work(news)
    done = ola.get(page)
    assert (done.status_code, done.location) == (303, f"{N}/clicks/log?name=March")
    assert "Import of a click log" in words(ola.get(f"{N}/jobs"))


def test_whoever_waits_is_told_the_percentage_of_a_large_log(
    visit: Visit, news: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, int]] = []
    note = jobs.note_progress

    def noted(session: Session, taken: jobs.TakenJob, *, now: datetime, done: int, steps: int) -> None:
        told.append((done, steps))
        note(session, taken, now=now, done=done, steps=steps)

    monkeypatch.setattr(jobs, "note_progress", noted)
    monkeypatch.setattr(log_sources, "CHUNK_BYTES", 4_096)
    said = {"name": "March", "kind": "comparison", "days": "7", "share": "0.5"}
    page = job_of(visit("ola").post(f"{N}/clicks", files=[file("log.csv", log_text())], **said))
    work(news)
    assert visit("ola").get(page).status_code == 303
    done = [one for one, _ in told]
    assert len(done) == -(-len(log_text()) // 4_096)
    assert (done[0], done[-1], done == sorted(set(done))) == (100 * 4_096 // len(log_text()), 99, True)
    assert {steps for _, steps in told} == {100}


def test_files_of_one_log_and_their_lists_reach_the_worker(visit: Visit, news: Database) -> None:
    lists = "topic\tlist\tposition\tdocno\tteam\talpha\tbeta\n1\t1\t1\ta\talpha\t1\t3\n1\t1\t2\td\tbeta\t-\t1\n"
    log = interleaving_text(3, 1, 0).replace(",alpha,", ",1,").replace(",beta,", ",1,")
    said = {"name": "Lists", "kind": "interleaving", "days": "7", "share": "0.5"}
    page = job_of(
        visit("ola").post(f"{N}/clicks", files=[file("log.csv", log)], lists=file("lists.tsv", lists), **said)
    )
    work(news)
    assert visit("ola").get(page).status_code == 303
    with news.reading() as session:
        [view] = list_logs(session, "news")
    assert (view.kind, dict(view.runs)) == (LogKind.INTERLEAVING, {"alpha": "alpha", "beta": "beta"})


def test_what_is_wrong_is_told_and_nothing_kept(visit: Visit, news: Database) -> None:
    said = {"name": "March", "kind": "comparison", "days": "7", "share": "0.5"}
    ola = visit("ola")
    page = job_of(ola.post(f"{N}/clicks", files=[file("log.csv", "nothing\n")], **said))
    work(news)
    answer = ola.get(ola.get(page).location)
    assert answer.status_code == 422
    assert "log.csv" in words(answer)
    assert state(news) == [JobState.FAILED]
    with news.reading() as session:
        assert list_logs(session, "news") == []
