"""The archive of a collection, written by the worker for its page, and copies of a collection."""

import io
import zipfile
from typing import Any

import pytest
from visiting import words
from worker.at_work import N, Visit, job_of, state, work

from annotator.storage import Database, JobState
from annotator.web.collections import archives
from annotator.workflows.collections.archive_export import write_archive


def test_an_archive_is_written_by_the_worker_and_downloaded_from_its_job(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    assert "Export the archive" in words(ola.get(f"{N}/archive"))
    page = job_of(ola.post(f"{N}/archive", pseudonyms="y"))
    work(news)
    assert "Download the file" in words(ola.get(page))
    archive = ola.get(f"{page}/answer")
    assert archive.headers["Content-Disposition"] == "attachment; filename=news.zip"
    with zipfile.ZipFile(io.BytesIO(archive.data)) as opened:
        assert {"topics.jsonl", "runs.jsonl"} <= set(opened.namelist())
    assert "collections.export" in ola.get(f"{N}/audit").text


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
