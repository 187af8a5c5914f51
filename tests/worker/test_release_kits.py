"""The release kit of a collection, written by the worker for its page and for a program."""

import csv
import io
from struct import pack
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile

import pytest
from build import NOW, SLUG, labels
from calling import NEWS, Program, token_of
from flask import Flask
from visiting import file, words
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


def made_kit(visit: Visit, news: Database) -> bytes:
    keep(news)
    ola = visit("ola")
    page = job_of(ola.post(f"{N}/kit", version="1"))
    work(news)
    content: bytes = ola.get(f"{page}/answer").data
    return content


def packed(files: dict[str, bytes], method: int = ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with ZipFile(content, "w", method) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def parts_of(kit: bytes) -> dict[str, bytes]:
    with ZipFile(io.BytesIO(kit)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def checked(visit: Visit, news: Database, kit: bytes) -> str:
    """What the page says of a kit, when the worker has compared it."""
    ola = visit("ola")
    page = job_of(ola.post(f"{N}/kit/check", file=file("news-kit.zip", kit)))
    work(news)
    shown = ola.get(page)
    return words(ola.get(shown.location) if shown.status_code == 303 else shown)


def test_a_kit_is_compared_with_the_database_by_page(visit: Visit, news: Database) -> None:
    kit = made_kit(visit, news)
    whole = f"The kit is what the database gives. Files compared: {len(parts_of(kit))}."
    assert whole in checked(visit, news, kit)
    # Packed again, without its folder.
    assert whole in checked(visit, news, packed({name.partition("/")[2]: text for name, text in parts_of(kit).items()}))


def test_every_file_that_differs_is_named_with_its_line(visit: Visit, news: Database) -> None:
    parts = parts_of(made_kit(visit, news))
    parts["news/qrels.txt"] = parts["news/qrels.txt"].replace(b"1 0 d 0", b"1 0 d 1")
    parts["news/extra.txt"] = b"more"
    del parts["news/CITATION.cff"]
    said = checked(visit, news, packed(parts))
    assert "Differences of the kit from the database: " in said
    assert "qrels.txt:2 This line is not what the database gives now." in said
    assert "extra.txt The kit has no such file: it was added." in said
    assert "CITATION.cff The file is missing." in said


def damaged(kit: bytes) -> bytes:
    """The kit with other bytes in the middle of its greatest file."""
    with ZipFile(io.BytesIO(kit)) as archive:
        greatest = max(archive.infolist(), key=lambda part: part.compress_size)
    middle = greatest.header_offset + 30 + len(greatest.filename) + greatest.compress_size // 2
    return kit[:middle] + bytes(4) + kit[middle + 4 :]


HOSTILE = {
    "no zip": (b"no zip at all", "This is no release kit: it is no zip file, or it was cut off."),
    "empty": (packed({}), "is no kit of a collection: its file kit.json cannot be read."),
    "another": (packed({"a.txt": b"a"}), "is no kit of a collection: its file kit.json cannot be read."),
    "strange": (packed({"kit.json": b"[" * 100_000}), "kit.json is not what this program writes."),
    "bomb": (packed({"kit.json": b" " * (2 << 20)}), "bytes unpacked: no kit of this site is so large."),
    "method": (packed({"kit.json": b"{}"}, ZIP_BZIP2), "The zip file is encrypted, or packed in a way that no kit is."),
    "outside": (packed({"../kit.json": b"{}"}), "The zip file has a path that leads out of it."),
    "absolute": (packed({"/kit.json": b"{}"}), "The zip file has a path that leads out of it."),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_is_no_kit_is_refused_with_the_reason(visit: Visit, news: Database, name: str) -> None:
    content, sentence = HOSTILE[name]
    assert sentence in checked(visit, news, content)


def test_a_kit_that_claims_to_be_larger_than_the_site_reads_is_refused(visit: Visit, news: Database) -> None:
    content = packed({"kit.json": b"{}"})
    size = content.index(b"PK\x01\x02") + 24  # of the unpacked file, in the directory at the end
    forged = content[:size] + pack("<I", 0xFFFF_FFF0) + content[size + 4 :]
    assert "bytes unpacked: no kit of this site is so large." in checked(visit, news, forged)


def test_a_damaged_kit_names_the_file(visit: Visit, news: Database) -> None:
    said = checked(visit, news, damaged(made_kit(visit, news)))
    assert "The file is damaged: it cannot be unpacked." in said or "This line is not what the database gives" in said


def test_no_file_is_asked_for_in_place(visit: Visit, news: Database) -> None:
    keep(news)
    assert visit("ola").post(f"{N}/kit/check").status_code == 422


def test_a_program_compares_a_kit(app: Flask, visit: Visit, news: Database) -> None:
    kit = made_kit(visit, news)
    ola = Program(app, token_of(news, "ola", (Scope.ORGANISE,)))
    job = ola.send(f"{NEWS}/kit/checks", kit, name="kit.zip").headers["Location"]
    work(news)
    assert ola.get(job).json["result"] == {"files": len(parts_of(kit))}
    parts = parts_of(kit)
    parts["news/README.md"] += b"more"
    job = ola.send(f"{NEWS}/kit/checks", packed(parts), name="kit.zip").headers["Location"]
    work(news)
    ended = ola.get(job).json
    assert ended["status"] == 422
    assert [one["file"] for one in ended["problem"]["problems"]] == ["README.md", "metadata.json"]
