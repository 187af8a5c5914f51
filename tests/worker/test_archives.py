"""The archive of a collection, written by the worker for its page, and copies of a collection."""

import io
import zipfile
from typing import Any

import pytest
from build import labels
from sqlalchemy import select
from visiting import Visitor, file, words
from worker.at_work import N, Visit, job_of, state, work

from annotator.storage import Database, Job, JobState
from annotator.web.collections import archives
from annotator.workflows.collections.archive_export import write_archive
from annotator.workflows.qrels import archived_qrels


def test_an_archive_is_written_by_the_worker_and_downloaded_from_its_job(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    assert "Export the collection" in words(ola.get(f"{N}/archive"))
    page = job_of(ola.post(f"{N}/archive", pseudonyms="y"))
    work(news)
    assert "Download the file" in words(ola.get(page))
    archive = ola.get(f"{page}/answer")
    assert archive.headers["Content-Disposition"] == "attachment; filename=news.zip"
    with zipfile.ZipFile(io.BytesIO(archive.data)) as opened:
        assert {"topics.jsonl", "runs.jsonl"} <= set(opened.namelist())
    assert "collections.export" in ola.get(f"{N}/audit").text


def test_a_folder_of_beir_is_written_by_the_worker(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    failed = job_of(ola.post(f"{N}/archive", format="beir"))
    work(news)
    assert "Nothing is judged yet" in words(ola.get(ola.get(failed).location))
    with news.transaction() as session:
        labels(session, "jo", "1 0 a 1\n")
    page = job_of(ola.post(f"{N}/archive", format="beir"))
    work(news)
    archive = ola.get(f"{page}/answer")
    assert archive.headers["Content-Disposition"] == "attachment; filename=news-beir.zip"
    with zipfile.ZipFile(io.BytesIO(archive.data)) as opened:
        assert opened.read("news/qrels/test.tsv").endswith(b"\n1\ta\t1\n")


def test_an_archive_is_under_way_until_it_is_written(
    visit: Visit, news: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def write(*given: Any, **values: Any) -> dict[str, int]:  # noqa: ANN401 - as they come
        seen.extend(state(news))
        return write_archive(*given, **values)

    monkeypatch.setattr(archives, "write_archive", write)
    visit("ola").post(f"{N}/archive")
    work(news)
    assert seen == [JobState.RUNNING]
    assert state(news) == [JobState.DONE]


def test_administrators_copy_a_collection_at_once_or_with_documents_by_the_worker(visit: Visit, news: Database) -> None:
    assert visit("ola").post(f"{N}/archive/copy", slug="again").status_code == 403
    ada = visit("ada")
    answer = ada.post(f"{N}/archive/copy", slug="again", title="Again")
    assert (answer.status_code, answer.location) == (303, "/collections/again")
    assert "Again" in words(ada.get("/collections/again"))
    assert ada.post(f"{N}/archive/copy", slug="again").status_code in {409, 422}
    page = job_of(ada.post(f"{N}/archive/copy", slug="texts", documents="y"))
    assert ada.get("/collections/texts").status_code == 404
    work(news)
    assert "Collection copied." in words(ada.get(page))
    assert ada.get("/collections/texts").status_code == 200


def exported(visit: Visit, news: Database) -> bytes:
    ola = visit("ola")
    page = job_of(ola.post(f"{N}/archive"))
    work(news)
    archive: bytes = ola.get(f"{page}/answer").data
    return archive


def sent(ada: Visitor, news: Database, archive: bytes, slug: str = "again") -> str:
    """The page of the job that imported an archive."""
    answer = ada.post("/import-archive", file=file("news.zip", archive), slug=slug)
    assert (answer.status_code, answer.location.startswith("/jobs/")) == (303, True)
    work(news)
    return answer.location


def test_an_administrator_imports_an_archive_as_a_new_collection(visit: Visit, news: Database) -> None:
    archive, ada = exported(visit, news), visit("ada")
    assert "Import an archive" in words(ada.get("/new-collection"))
    assert visit("ola").get("/import-archive").status_code == 403
    page = sent(ada, news, archive)
    assert "Stored: 2 topics" in words(ada.get(page))
    assert ada.get(f"{page}.json").get_json()["state"] == "done"
    assert ada.get("/collections/again/runs").status_code == 200
    assert "collections.import news.zip" in words(ada.get("/collections/again/audit"))
    assert visit("ola").get(page).status_code == 403
    with news.reading() as session:
        assert session.scalars(select(Job.collection_id).order_by(Job.id.desc())).first() is None


def test_an_archive_that_is_damaged_or_there_already_changes_nothing(visit: Visit, news: Database) -> None:
    archive, ada = exported(visit, news), visit("ada")
    before = words(ada.get("/collections"))
    answer = ada.get(ada.get(sent(ada, news, archive, slug="news")).location)
    assert (answer.status_code, "already" in words(answer)) == (409, True), words(answer)
    damaged = archive[:200] + b"X" + archive[201:]
    answer = ada.get(ada.get(sent(ada, news, damaged)).location)
    assert (answer.status_code, "news.zip" in words(answer)) == (422, True), words(answer)
    assert words(ada.get("/collections")) == before
    assert state(news)[-2:] == [JobState.FAILED, JobState.FAILED]


def test_the_import_of_an_archive_can_be_cancelled(visit: Visit, news: Database) -> None:
    archive, ada = exported(visit, news), visit("ada")
    page = ada.post("/import-archive", file=file("news.zip", archive), slug="again").location
    assert "Queued." in words(ada.get(page))
    assert ada.post(f"{page}/cancel").location == page
    work(news)
    assert "Cancelled. Nothing was stored." in words(ada.get(page))
    assert ada.get("/collections/again").status_code == 404


def test_a_job_is_under_way_until_the_last_transaction_of_an_import(
    visit: Visit, news: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, seen = exported(visit, news), []

    def compare(*given: Any) -> None:  # noqa: ANN401 - as they come
        assert given
        seen.append(state(news)[-1])

    monkeypatch.setattr(archived_qrels, "refuse_other_qrels", compare)
    sent(visit("ada"), news, archive)
    assert seen == [JobState.RUNNING]
    assert state(news)[-1] == JobState.DONE
