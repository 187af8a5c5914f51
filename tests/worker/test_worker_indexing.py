"""The worker indexes what it has imported, between jobs, and what others left."""

import pytest
from build import SLUG
from sqlalchemy import delete
from visiting import file, words
from worker.at_work import N, Visit, job_of, state, work

from annotator.storage import Database, DocumentWords, JobState
from annotator.worker import working
from annotator.workflows.documents import search


def left(database: Database) -> int:
    with database.reading() as session:
        return search.count_not_indexed(session, SLUG)


def found(database: Database, query: str) -> list[str]:
    with database.reading() as session:
        return sorted(hit.docno for hit in search.find_documents(session, SLUG, query).hits)


def test_documents_sent_by_page_are_indexed_by_the_worker(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    page = job_of(ola.post(f"{N}/documents", files=file("d.tsv", "new1\tgiraffe\nnew2\tgiraffe\n")))
    work(news)
    assert "Documents added: 2," in words(ola.get(page))
    assert (found(news, "giraffe"), left(news)) == (["new1", "new2"], 0)


def test_the_import_itself_leaves_the_index_to_the_next_step(
    visit: Visit, news: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ola = visit("ola")
    job_of(ola.post(f"{N}/documents", files=file("d.tsv", "new1\tgiraffe\n")))
    monkeypatch.setattr(working.Indexing, "step", lambda _: False)
    work(news)
    assert (state(news), found(news, "giraffe"), left(news)) == ([JobState.DONE], [], 1)
    page = ola.get(f"{N}/search?q=text")
    assert "Documents not indexed yet, which no search finds: 1." in words(page)
    monkeypatch.undo()
    work(news)
    assert (found(news, "giraffe"), left(news)) == (["new1"], 0)
    assert "not indexed" not in words(ola.get(f"{N}/search?q=text"))


def test_what_somebody_broke_off_is_gone_on_with(news: Database) -> None:
    with news.transaction() as session:
        session.execute(delete(DocumentWords))
    assert left(news) > 0
    work(news)
    assert left(news) == 0


def test_a_fault_in_indexing_is_told_and_keeps_no_job_waiting(
    visit: Visit, news: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ola = visit("ola")
    for number in (1, 2):
        job_of(ola.post(f"{N}/documents", files=file("d.tsv", f"new{number}\tgiraffe\n")))

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(search, "index_some", fail)
    work(news)
    assert state(news) == [JobState.DONE, JobState.DONE]
    assert "failed at indexing documents" in caplog.text
    assert left(news) == 2
