"""A collection as a kit: what is in it, whose names are not, and that it is compared with the database."""

import csv
import gzip
import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from zipfile import ZipFile

import pytest
from beginning import beginning
from build import LIMIT, NOW, SLUG, build, document_file, labels, news, pool, run, topic_file
from machine_judging import ACCESS
from sampled_news import draw, grade_of_people, sampled_news
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, FileRefusedError, NotFoundError
from annotator.evaluation.publishing.kit_files import Publication
from annotator.evaluation.publishing.kit_reading import KitFolder
from annotator.files import InputFile
from annotator.storage import Collection, PoolItem, Topic
from annotator.storage.agreement.machines import MachineFacts
from annotator.storage.documents.documents import docnos_of
from annotator.storage.people.accounts import find_user
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.runs.runs import RunDetails
from annotator.workflows.agreement.machine_setup import MachineSettings, add_version
from annotator.workflows.collections.collection import CollectionChange, change_collection, set_guidelines
from annotator.workflows.judging.judgement_import import check_judgements, store_judgements
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.leaderboard.release_kit import (
    KitCounts,
    check_kit,
    collection_veil,
    veil_csv,
    version_to_publish,
    write_kit,
)
from annotator.workflows.qrels.qrels import export_qrels
from annotator.workflows.qrels.qrels_versions import ReleaseRequest, keep_qrels, release_scores
from annotator.workflows.runs.runs import change_run, withdraw_run
from annotator.workflows.topics.topic_editing import drop_topics

# A tag within another tag, a tag that is no file name, and a team whose name contains a tag.
TAGS = ("zeta", "zeta-2", "../Élan")
TEAMS = {"zeta": "Reds", "zeta-2": "Reds of Zeta", "../Élan": None}


@beginning
def judged_news(session: Session) -> None:
    """Three runs of two teams, their pool, grades of two judges, and a kept version of the qrels."""
    news(session, judgements_wanted=2)
    topic_file(session)
    document_file(session, ["a", "b"])
    for tag in TAGS:
        run(session, tag, {"1": ["a", "b", "c"] if tag == "zeta" else ["c", "a"], "2": ["a"]}, team=TEAMS[tag])
    pool(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n2 0 a 1\n")
    labels(session, "kim", "1 0 a 2\n1 0 b 1\n")
    keep(session)


def keep(session: Session) -> int:
    made = export_qrels(session, SLUG, made_at=NOW, to_keep=True)
    return keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)


PUBLICATION = Publication(
    slug=SLUG,
    version=1,
    veiled=False,
    with_texts=False,
    measures=("nDCG@10", "AP"),
    authors=(),
    licence="CC0-1.0",
    address="",
    made_at=NOW,
    program="0.1.0",
)
VEILED = replace(PUBLICATION, veiled=True)


@pytest.fixture
def judged(session: Session) -> Session:
    judged_news(session)
    return session


def kit(session: Session, publication: Publication = PUBLICATION, **more: object) -> tuple[KitCounts, dict[str, bytes]]:
    """The counts, and the files by their paths, unpacked."""
    stream = io.BytesIO()
    counts = write_kit(session, publication, stream, **more)  # type: ignore[arg-type] # the names that are allowed
    with ZipFile(stream) as archive:
        files = {name.removeprefix(f"{SLUG}/"): archive.read(name) for name in archive.namelist()}
    return counts, {
        path: gzip.decompress(content) if path.endswith(".gz") else content for path, content in files.items()
    }


def rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_everything_is_in_the_kit(judged: Session) -> None:
    set_guidelines(judged, SLUG, "Judge *well*.", made_by_id=None, made_at=NOW)
    change_run(judged, SLUG, "zeta", details=RunDetails(description="Our best."), at=NOW)
    counts, files = kit(judged)
    assert counts == KitCounts(version=1, files=len(files), topics=2, grades=3, runs=3, documents=0)
    assert files["qrels.txt"] == b"1 0 a 2\n1 0 b 0\n2 0 a 1\n"
    assert [json.loads(line)["title"] for line in files["topics.jsonl"].splitlines()] == ["first topic", "second topic"]
    assert files["guidelines.md"] == b"Judge *well*."
    assert files["docnos.txt.gz"] == b"a\nb\nc\n"
    listed = {row["run"]: (row["team"], row["file"], row["description"]) for row in rows(files["runs.csv"])}
    assert listed == {
        "zeta": ("Reds", "runs/zeta.run.gz", "Our best."),
        "zeta-2": ("Reds of Zeta", "runs/zeta-2.run.gz", ""),
        "../Élan": ("", "runs/.._lan.run.gz".replace("_lan", "__lan"), ""),
    }
    assert files["runs/zeta.run.gz"].splitlines()[:2] == [b"1 Q0 a 1 999.0 zeta", b"1 Q0 b 2 998.0 zeta"]
    assert not {"prels.txt", "documents.jsonl.gz"} & files.keys()


def test_the_metadata_has_the_checksum_of_every_file(judged: Session) -> None:
    stream = io.BytesIO()
    write_kit(judged, PUBLICATION, stream)
    with ZipFile(stream) as archive:
        files = {name.removeprefix(f"{SLUG}/"): archive.read(name) for name in archive.namelist()}
    metadata = json.loads(files.pop("metadata.json"))
    assert {one["contentUrl"]: one["sha256"] for one in metadata["distribution"]} == {
        path: hashlib.sha256(content).hexdigest() for path, content in files.items()
    }


def test_scores_are_those_of_the_kept_version(judged: Session) -> None:
    labels(judged, "lea", "1 0 c 2\n2 0 a 0\n")
    change_collection(judged, SLUG, CollectionChange(relevant_from=2))
    _, files = kit(judged)
    board = build_leaderboard(judged, SLUG, ("nDCG@10", "AP"), grades=GradesFrom(version=1, as_kept=True))
    live = build_leaderboard(judged, SLUG, ("nDCG@10", "AP"))
    expected = {row.tag: row.values for row in board.rows}
    found = {row["run"]: (float(row["nDCG@10"]), float(row["AP"])) for row in rows(files["scores.csv"])}
    assert found == expected
    assert found != {row.tag: row.values for row in live.rows}
    assert {row["qrels"] for row in rows(files["scores.csv"])} == {"1"}
    assert {(row["run"], row["topic"]) for row in rows(files["scores_by_topic.csv"])} == {
        (tag, topic) for tag in TAGS for topic in ("1", "2", "all")
    }


def test_a_veiled_kit_names_no_team_and_no_run(judged: Session) -> None:
    change_run(judged, SLUG, "zeta", details=RunDetails(description="zeta of the Reds"), at=NOW)
    run(judged, "gone", {"1": ["a"]}, team="Blues")
    pool(judged)
    labels(judged, "jo", "1 0 c 1\n")
    assert keep(judged) == 2
    withdraw_run(judged, SLUG, "gone", at=NOW)
    _, files = kit(judged, replace(VEILED, version=2))
    everything = b"\n".join([*files.values(), *map(str.encode, files)]).decode()
    for name in (*TAGS, "gone", "Reds", "Reds of Zeta", "Blues"):
        assert name not in everything
    veil = collection_veil(judged, SLUG)
    assert {row["run"] for row in rows(files["runs.csv"])} == {veil.run(tag) for tag in TAGS}
    assert {row["team"] for row in rows(files["scores.csv"])} == {"", veil.team("Reds"), veil.team("Reds of Zeta")}
    # Runs that fed the pool, also one that is withdrawn.
    manifest = json.loads(files["qrels.manifest.json"])
    assert veil.run("gone") in manifest["pool_versions"][1]["parameters"]["runs"]
    assert ["run", "gone", veil.run("gone")] in list(csv.reader(io.StringIO(veil_csv(veil))))


def test_pseudonyms_are_the_same_in_a_later_release(judged: Session) -> None:
    def tags(files: dict[str, bytes]) -> set[str]:
        return {row["run"] for row in rows(files["runs.csv"])}

    earlier = tags(kit(judged, VEILED)[1])
    run(judged, "a-new-one", {"1": ["b"]}, team="Greens")
    later = tags(kit(judged, VEILED)[1])
    assert earlier < later
    assert len(later) == len(earlier) + 1


def test_scores_and_runs_are_not_in_the_order_of_the_names(judged: Session) -> None:
    def order(key: str) -> list[str]:
        judged.scalars(select(Collection)).one().judge_order_key = key
        judged.flush()
        veil = collection_veil(judged, SLUG)
        names = {veil.run(tag): tag for tag in TAGS}
        return [names[row["run"]] for row in rows(kit(judged, VEILED)[1]["scores.csv"])]

    assert len({tuple(order(f"key {number}")) for number in range(6)}) > 1


@pytest.mark.parametrize(
    ("text", "name"), [("As the REDS do.", "Reds"), ("See ../Élan.", "../Élan"), ("Not zeta-2, but zeta.", "zeta")]
)
def test_a_text_that_names_a_veiled_one_is_refused(judged: Session, text: str, name: str) -> None:
    set_guidelines(judged, SLUG, text, made_by_id=None, made_at=NOW)
    with pytest.raises(FileRefusedError, match="Nothing was published") as refused:
        kit(judged, VEILED)
    found = [str(problem) for problem in refused.value.problems]
    assert f"guidelines.md: The file would have the name “{name}” of a team or run." in found
    assert all(problem.startswith("guidelines.md: ") for problem in found)
    kit(judged)
    kit(judged, VEILED, allowed=(*TAGS, "Reds"))


def test_a_name_in_title_topic_or_author_is_found_in_the_files(judged: Session) -> None:
    change_collection(judged, SLUG, CollectionChange(title="The task of the Reds"))
    topic_file(judged, "3\tzeta functions\n")
    with pytest.raises(FileRefusedError) as refused:
        kit(judged, replace(VEILED, authors=("../Élan",)))
    files = {(problem.file, problem.sentence.values["name"]) for problem in refused.value.problems}
    assert {
        ("topics.jsonl", "zeta"),
        ("README.md", "Reds"),
        ("CITATION.cff", "../Élan"),
        ("kit.json", "../Élan"),
    } <= files


def test_a_kit_names_no_judge(judged: Session) -> None:
    made = export_qrels(judged, SLUG, judge="kim", made_at=NOW, to_keep=True)
    keep_qrels(judged, SLUG, made, made_by_id=find_user(judged, "jo").id, made_at=NOW)
    _, files = kit(judged, replace(PUBLICATION, version=2))
    assert not [path for path, content in files.items() if b"kim" in content]
    assert {row["policy"] for row in rows(files["scores.csv"])} == {"one judge"}
    assert json.loads(files["qrels.manifest.json"])["consensus"] == "The grades of one judge."


def test_a_machine_is_in_the_datasheet_also_where_its_labels_do_not_count(judged: Session) -> None:
    lines = b"1 0 a 1\n1 0 c 2\n"
    checked = check_judgements(judged, SLUG, InputFile("llm.txt", lines), add_to_pool=False, unpacked_limit=LIMIT)
    facts = MachineFacts("gpt-x", "Judge this.", date(2026, 2, 1))
    store_judgements(judged, SLUG, checked, judge="llm", machine=facts, added_at=NOW)
    _, files = kit(judged)
    text = files["DATASHEET.md"].decode()
    assert "Labels of machines do not count in these qrels." in text
    prompt = hashlib.sha256(b"Judge this.").hexdigest()
    assert f"| gpt-x | {prompt} | 2026-02-01 | labels imported |" in text


def test_the_settings_of_a_machine_that_the_site_runs_are_in_the_datasheet(judged: Session) -> None:
    settings = MachineSettings("http://127.0.0.1:9/v1/chat/completions", "gpt-y", samples=3, temperature=0.7)
    add_version(judged, SLUG, "robot", settings, access=ACCESS, by_id=None, at=NOW)
    text = kit(judged)[1]["DATASHEET.md"].decode()
    assert "| 3 responses to each document; temperature 0.7; texts cut at 4000 tokens |" in text
    assert "127.0.0.1" not in text


def test_texts_are_published_where_they_are_wanted(judged: Session) -> None:
    counts, files = kit(judged, replace(PUBLICATION, with_texts=True))
    texts = [json.loads(line) for line in files["documents.jsonl.gz"].splitlines()]
    assert [(one["docno"], one["body"]) for one in texts] == [("a", "Text of a."), ("b", "Text of b.")]
    assert counts.documents == 2


def test_texts_that_are_not_there_are_refused(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "zeta", {"1": ["a"]})
    pool(session)
    labels(session, "jo", "1 0 a 1\n")
    keep(session)
    with pytest.raises(ConflictError, match="No document of the collection has a text"):
        kit(session, replace(PUBLICATION, with_texts=True))


def test_a_collection_without_runs_has_no_scores(session: Session) -> None:
    news(session)
    topic_file(session)
    labels(session, "jo", "1 0 a 1\n", add_to_pool=True)
    keep(session)
    counts, files = kit(session)
    assert counts.runs == 0
    assert not {"scores.csv", "scores_by_topic.csv"} & files.keys()
    assert rows(files["runs.csv"]) == []


def test_the_version_is_the_released_one_else_the_newest(judged: Session) -> None:
    assert version_to_publish(judged, SLUG) == 1
    labels(judged, "lea", "1 0 c 2\n")
    assert keep(judged) == 2
    assert version_to_publish(judged, SLUG) == 2
    release_scores(judged, SLUG, ReleaseRequest(moment=NOW, qrels="1", early=True), None, by_id=None, at=NOW)
    assert version_to_publish(judged, SLUG) == 1
    assert version_to_publish(judged, SLUG, 2) == 2
    with pytest.raises(NotFoundError, match="no version 3"):
        version_to_publish(judged, SLUG, 3)


def test_without_a_kept_version_there_is_no_kit(session: Session) -> None:
    news(session)
    with pytest.raises(ConflictError, match="No version of the qrels is kept"):
        version_to_publish(session, SLUG)


def test_the_qrels_of_a_sample_are_of_the_kept_version(session: Session) -> None:
    sampled_news(session)
    draw(session, 24)
    drawn = docnos_of(session, set(session.scalars(select(PoolItem.document_id))))
    lines = [f"{topic} 0 {docno} {grade_of_people(docno)}\n" for topic in ("1", "2") for docno in drawn.values()]
    labels(session, "jo", "".join(lines[: len(lines) // 2]), add_to_pool=True)
    keep(session)
    _, files = kit(session, VEILED, allowed=["alpha", "beta"])
    labels(session, "jo", "".join(lines[len(lines) // 2 :]), add_to_pool=True)
    assert kit(session, VEILED, allowed=["alpha", "beta"])[1]["prels.txt"] == files["prels.txt"]
    sampled = [line.split() for line in files["prels.txt"].decode().splitlines()]
    judged = [line.split() for line in files["qrels.txt"].decode().splitlines()]
    graded = {(topic, docno, grade) for topic, _, docno, _, grade in sampled if grade != "-1"}
    assert graded
    assert graded <= {(topic, docno, grade) for topic, _, docno, grade in judged}
    manifest = json.loads(files["prels.manifest.json"])
    assert manifest["sha256"] == hashlib.sha256(files["prels.txt"]).hexdigest()
    assert "judge" not in manifest
    veil = collection_veil(session, SLUG)
    assert manifest["parameters"]["runs"] == sorted([veil.run("alpha"), veil.run("beta")])
    assert "its labels guided the draw of a sample; labels imported" in files["DATASHEET.md"].decode()


def test_the_qrels_of_a_sample_do_not_name_their_only_judge(session: Session) -> None:
    sampled_news(session)
    draw(session, 24)
    drawn = docnos_of(session, set(session.scalars(select(PoolItem.document_id))))
    lines = [f"1 0 {docno} {grade_of_people(docno)}\n" for docno in drawn.values()]
    labels(session, "kim", "".join(lines), add_to_pool=True)
    made = export_qrels(session, SLUG, judge="kim", made_at=NOW, to_keep=True)
    keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)
    manifest = kit(session)[1]["prels.manifest.json"].decode()
    assert "kim" not in manifest
    assert json.loads(manifest)["consensus"] == "The grades of one judge."


def test_a_version_without_a_grade_of_the_sample_has_no_prels(session: Session) -> None:
    sampled_news(session)
    draw(session, 24)
    labels(session, "jo", "1 0 elsewhere 1\n", add_to_pool=True)
    keep(session)
    assert "prels.txt" not in kit(session)[1]


def test_the_same_state_gives_the_same_bytes(judged: Session) -> None:
    one, other = io.BytesIO(), io.BytesIO()
    write_kit(judged, VEILED, one)
    write_kit(judged, VEILED, other)
    assert one.getvalue() == other.getvalue()


@pytest.fixture
def written(judged: Session, tmp_path: Path) -> Path:
    """A veiled kit as a folder."""
    stream = io.BytesIO()
    write_kit(judged, VEILED, stream)
    with ZipFile(stream) as archive:
        archive.extractall(tmp_path)
    return tmp_path / SLUG


def differences(session: Session, folder: Path) -> list[str]:
    with pytest.raises(FileRefusedError, match="Differences of the kit from the database") as refused:
        check_kit(session, SLUG, KitFolder(folder))
    return [str(problem) for problem in refused.value.problems]


def test_a_kit_as_it_was_written_is_what_the_database_gives(judged: Session, written: Path) -> None:
    assert check_kit(judged, SLUG, KitFolder(written)) == len([path for path in written.rglob("*") if path.is_file()])


def change_line(folder: Path) -> str:
    path = folder / "qrels.txt"
    path.write_bytes(path.read_bytes().replace(b"1 0 b 0", b"1 0 b 1"))
    return "qrels.txt:2: This line is not what the database gives now."


def remove_file(folder: Path) -> str:
    (folder / "README.md").unlink()
    return "README.md: The file is missing."


def add_file(folder: Path) -> str:
    (folder / "runs" / "more").write_bytes(b"")
    return "runs/more: The kit has no such file: it was added."


def damage_run(folder: Path) -> str:
    path = min((folder / "runs").iterdir())
    path.write_bytes(path.read_bytes()[:-4])
    return f"runs/{path.name}: The file is damaged: it cannot be unpacked."


def change_run_file(folder: Path) -> str:
    path = min((folder / "runs").iterdir())
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b"999.0", b"999.5")))
    return f"runs/{path.name}:1: This line is not what the database gives now."


@pytest.mark.parametrize("change", [change_line, remove_file, add_file, damage_run, change_run_file])
def test_what_was_changed_in_a_kit_is_named(judged: Session, written: Path, change: Callable[[Path], str]) -> None:
    expected = change(written)
    assert expected in differences(judged, written)


def test_a_run_that_another_program_packed_is_the_same_if_the_metadata_say_so(judged: Session, written: Path) -> None:
    path = min((written / "runs").iterdir())
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()), 1))
    # Only its checksum differs.
    assert [problem.split(":")[0] for problem in differences(judged, written)] == ["metadata.json"]


def test_what_changed_in_the_database_is_named(judged: Session, written: Path) -> None:
    withdraw_run(judged, SLUG, "zeta", at=NOW)
    gone = collection_veil(judged, SLUG).run("zeta")
    found = differences(judged, written)
    assert f"runs/{gone}.run.gz: The kit has no such file: it was added." in found
    assert {"runs.csv", "scores.csv", "README.md"} <= {problem.split(":")[0] for problem in found}


def test_a_dropped_topic_is_named(judged: Session, written: Path) -> None:
    drop_topics(judged, SLUG, ["2"], reason="Unclear.")
    assert judged.scalars(select(Topic.number).where(Topic.reason == "Unclear.")).all() == ["2"]
    assert "topics.jsonl:2: This line is not what the database gives now." in differences(judged, written)


def test_a_kit_of_another_collection_is_refused(judged: Session, written: Path) -> None:
    news(judged, "other")
    with pytest.raises(ConflictError, match="is of the collection “news”, not of “other”"):
        check_kit(judged, "other", KitFolder(written))


def test_a_folder_that_cannot_be_read_is_named(judged: Session, written: Path) -> None:
    (written / "qrels.txt").unlink()
    (written / "qrels.txt").symlink_to(written / "qrels.txt")
    assert "qrels.txt" in {problem.split(":")[0] for problem in differences(judged, written)}


def test_depths_of_single_runs_are_veiled(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "zeta", {"1": ["a", "b"]})
    run(session, "zeta-2", {"1": ["b", "c"]})
    build(session, PoolRequest("depth", {"depth": 1}, None, depth_of={"zeta": 2}))
    labels(session, "jo", "1 0 a 1\n")
    keep(session)
    manifest = json.loads(kit(session, VEILED)[1]["qrels.manifest.json"])
    assert manifest["pool_versions"][0]["parameters"]["depth_of"] == {collection_veil(session, SLUG).run("zeta"): 2}
