"""The release kit of a collection, written by the worker for its page and for a program."""

import csv
import io
from zipfile import ZipFile

from build import NOW, SLUG, labels
from calling import NEWS, Program, token_of
from flask import Flask
from visiting import words
from worker.at_work import N, Visit, job_of, work

from annotator.storage import Database
from annotator.workflows.collections.collection import set_guidelines
from annotator.workflows.leaderboard.release_kit import collection_veil
from annotator.workflows.people.tokens import Scope
from annotator.workflows.qrels.qrels import export_qrels
from annotator.workflows.qrels.qrels_versions import keep_qrels


def keep(news: Database) -> None:
    """Keep a version of the qrels."""
    with news.transaction() as session:
        labels(session, "jo", "1 0 a 1\n1 0 d 0\n")
        made = export_qrels(session, SLUG, made_at=NOW, to_keep=True)
        keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)


def files_of(content: bytes) -> dict[str, str]:
    with ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name).decode("latin-1") for name in archive.namelist()}


def test_without_a_kept_version_the_page_says_what_comes_first(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    page = ola.get(f"{N}/kit")
    assert "No version of the qrels is kept yet." in words(page)
    assert f'href="{N}/qrels"' in page.text
    failed = job_of(ola.post(f"{N}/kit"))
    work(news)
    assert "No version of the qrels is kept, and published scores refer to one" in words(
        ola.get(ola.get(failed).location)
    )


def test_a_kit_is_written_by_the_worker_and_downloaded_from_its_job(visit: Visit, news: Database) -> None:
    keep(news)
    ola = visit("ola")
    assert "Version 1 of the qrels" in words(ola.get(f"{N}/kit"))
    sent = {"version": "1", "measures": "AP, P@5", "authors": "Doe, Jo\nNews group\n", "licence": "CC0-1.0"}
    page = job_of(ola.post(f"{N}/kit", **sent))
    work(news)
    kit = ola.get(f"{page}/answer")
    assert kit.headers["Content-Disposition"] == "attachment; filename=news-kit.zip"
    files = files_of(kit.data)
    assert files["news/qrels.txt"] == "1 0 a 1\n1 0 d 0\n"
    assert files["news/scores.csv"].startswith('"run","team","AP"')
    assert '"family-names": "Doe"' in files["news/CITATION.cff"]
    assert '"name": "News group"' in files["news/CITATION.cff"]
    assert "collections.publish" in ola.get(f"{N}/audit").text


def test_a_veiled_kit_with_a_name_in_a_text_says_where_and_gives_nothing(visit: Visit, news: Database) -> None:
    keep(news)
    with news.transaction() as session:
        set_guidelines(session, SLUG, "Like beta.", made_by_id=None, made_at=NOW)
    ola = visit("ola")
    refused = job_of(ola.post(f"{N}/kit", veiled="y", allowed="alpha"))
    work(news)
    shown = words(ola.get(ola.get(refused).location))
    assert "Nothing was published" in shown
    assert "guidelines.md The file would have the name “beta” of a team or run." in shown
    page = job_of(ola.post(f"{N}/kit", veiled="y", allowed="alpha\n beta \n"))
    work(news)
    files = files_of(ola.get(f"{page}/answer").data)
    with news.reading() as session:
        veil = collection_veil(session, SLUG)
    assert f"news/runs/{veil.run('alpha')}.run.gz" in files
    assert "alpha" not in files["news/runs.csv"]


def test_organisers_see_who_is_behind_the_pseudonyms(visit: Visit) -> None:
    ola = visit("ola")
    table = ola.get(f"{N}/kit/pseudonyms.csv")
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert [(row["kind"], row["name"]) for row in rows if row["kind"] == "run"] == [("run", "alpha"), ("run", "beta")]
    assert all(row["pseudonym"].startswith(f"{row['kind']}-") for row in rows)
    assert "collections.show-pseudonyms" in ola.get(f"{N}/audit").text


def test_a_program_gets_the_kit_and_the_pseudonyms(app: Flask, news: Database) -> None:
    keep(news)
    ola = Program(app, token_of(news, "ola", (Scope.ORGANISE,)))
    job = ola.post(f"{NEWS}/kit", {"veiled": True, "allowed": ["alpha"], "measures": ["AP"]}).headers["Location"]
    work(news)
    files = files_of(ola.get(f"{job}/file").data)
    table = ola.get(f"{NEWS}/kit/pseudonyms")
    assert table.mimetype == "text/csv"
    pseudonyms = {row["name"]: row["pseudonym"] for row in csv.DictReader(io.StringIO(table.text))}
    assert {row["run"] for row in csv.DictReader(io.StringIO(files["news/runs.csv"]))} == {
        pseudonyms["alpha"],
        pseudonyms["beta"],
    }
