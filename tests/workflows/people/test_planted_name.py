"""A name put wherever somebody can write one is in no audit detail, manifest, report or pseudonymous archive."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from access_matrix import MATRIX
from api_matrix import MATRIX as API
from build import NOW, SLUG, member, pooled_news
from calling import Program, token_of
from cli.command_line import CommandLine
from sqlalchemy import select
from visiting import Visitor, shared_application, with_database

from annotator.settings import sqlite_url
from annotator.storage import AuditEvent, Database, Role
from annotator.storage.site.migrating import upgrade_schema
from annotator.workflows.collections.archive_export import Archiving, write_archive
from annotator.workflows.judging import judge_desk, questions
from annotator.workflows.people.tokens import Scope
from annotator.workflows.qrels import qrels

NAME = "zaphod"
LEAST_PAGES = 15  # that an observer or a participant opens
LINE = "1 0 new{} 1\n"


@pytest.fixture
def planted(sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """A collection whose judge left the name in files, tokens, searches, questions, links, notes, terms and reasons."""
    monkeypatch.chdir(tmp_path)
    with sqlite_database.transaction() as session:
        pooled_news(session)
        id_ = member(session, NAME, Role.JUDGE)
        member(session, "ola", Role.ORGANISER)
        member(session, "ben", Role.OBSERVER)
        member(session, "pat", Role.PARTICIPANT, team="red")
        questions.ask(session, SLUG, id_, f"May {NAME} ask?", client_id="1", asked_at=NOW, topic="1")
        judge_desk.save_note(session, SLUG, "1", id_, f"{NAME.title()} counts cats.", changed_at=NOW)
    sqlite_database.close()
    annotator = CommandLine(str(sqlite_database.engine.url))
    for name, content in (
        (f"{NAME}_labels.qrels", LINE.format(1)),
        (f"{NAME}.run", "1 Q0 a 1 9 theirs\n"),
        (f"{NAME}.jsonl", json.dumps({"docno": "new2", "title": "cats", "body": "cats"}) + "\n"),
        (f"{NAME}-topics.tsv", "3\tthird\n"),
        ("terms.md", f"Ask {NAME}."),
    ):
        Path(name).write_text(content)
    for words in (
        ("judgements", "import", SLUG, f"{NAME}_labels.qrels", "--judge", NAME, "--add-to-pool"),
        ("runs", "import", SLUG, f"{NAME}.run", "--description", f"by {NAME}"),
        ("documents", "import", SLUG, f"{NAME}.jsonl"),
        ("topics", "import", SLUG, f"{NAME}-topics.tsv"),
        ("documents", "search", SLUG, f"cats OR {NAME}", "--for-topic", "1", "--add-to-pool", "--searcher", "ola"),
        ("invitations", "add", SLUG, "--role", "judge", "--note", f"for {NAME}"),
        # Topic 3 is not pooled; of topic 2, which is, participants learn that it was dropped.
        ("topics", "drop", SLUG, "2", "3", "--reason", f"{NAME} says so"),
        ("tokens", "add", NAME, "--name", f"{NAME}'s laptop", "--scopes", "read"),
        ("collections", "set", SLUG, "--title", f"News of {NAME}", "--terms", "terms.md"),
        ("collections", "set", SLUG, "--consensus", f"judge:{NAME}"),
        ("assignments", "set", SLUG, "--topic", "1", "--judge", NAME),
        ("qrels", "export", SLUG, "-o", "now.qrels"),
    ):
        annotator.done(*words)
    return annotator


def test_no_detail_of_the_log_has_it_and_nothing_once_it_is_forgotten(
    planted: CommandLine, sqlite_database: Database
) -> None:
    noted = json.loads(planted.done("audit", "list", "--format", "json"))
    assert {"judgements.import", "runs.import", "tokens.add", "collections.set"} <= {one["action"] for one in noted}
    assert NAME not in json.dumps([one["details"] for one in noted]).casefold()
    app = with_database(shared_application(), sqlite_database)
    program = Program(app, token_of(sqlite_database, "ola", (Scope.READ,)))
    of_api = program.get(f"/api/v1/collections/{SLUG}/audit", page_size=100).json
    assert {one["action"] for one in of_api} >= {"invitations.add", "topics.drop"}
    assert NAME not in json.dumps([one["details"] for one in of_api]).casefold()
    planted.done("users", "remove", NAME, "--yes")
    planted.done("collections", "set", SLUG, "--title", "News")  # the heading of the page
    ola = Visitor(app, sqlite_database, "ola")
    for path in (f"/collections/{SLUG}/audit", f"/collections/{SLUG}/audit.csv"):
        page = ola.get(path)
        assert (page.status_code, NAME in page.text.casefold()) == (200, False)
    assert NAME not in program.get(f"/api/v1/collections/{SLUG}/audit", page_size=100).text.casefold()
    for format_ in ("table", "csv", "json"):
        assert NAME not in planted.done("audit", "list", "--format", format_).casefold()
    with sqlite_database.reading() as session:
        lines = session.scalars(select(AuditEvent)).all()
        assert [one for one in lines if NAME in f"{one.name} {one.subject} {one.details}".casefold()] == []


def test_no_report_has_it_and_no_version_of_the_pool_in_a_manifest(
    planted: CommandLine, sqlite_database: Database
) -> None:
    # What is written there on purpose is the organisers' own: the title, and the description of a run.
    planted.done("collections", "set", SLUG, "--title", "News", "--consensus", "majority")
    planted.done("runs", "set", SLUG, "theirs", "--description", "ours")
    planted.done("report", "export", SLUG, "-o", "report.html")
    report = Path("report.html").read_text()
    assert "checksum" in report
    assert "Dropped topics: 2, 3." in report
    assert NAME not in report.casefold()
    with sqlite_database.reading() as session:
        manifest = json.loads(qrels.export_qrels(session, SLUG, made_at=NOW).manifest)
    assert NAME not in json.dumps(manifest["pool_versions"])
    # Organisers export the manifest, and find there what they wrote.
    assert manifest["dropped_topics"] == [{"number": number, "reason": f"{NAME} says so"} for number in "23"]


@pytest.mark.parametrize("name", ["ben", "pat"])
def test_observers_and_participants_find_it_on_no_page_and_in_no_answer(
    planted: CommandLine, sqlite_database: Database, name: str
) -> None:
    # What is written for them on purpose: the title, the terms, and the description of a run.
    Path("terms.md").write_text("Ask us.")
    planted.done("collections", "set", SLUG, "--title", "News", "--terms", "terms.md")
    planted.done("runs", "set", SLUG, "theirs", "--description", "ours")
    app = with_database(shared_application(), sqlite_database)
    token = token_of(sqlite_database, name, (Scope.READ, Scope.RUNS))
    visitor, program = Visitor(app, sqlite_database, name), Program(app, token)
    pages = [row.path for row in MATRIX.values() if row.method == "GET" and not row.path.startswith("/static")]
    operations = [row.path for row in API.values() if row.method == "GET"]
    answers = [(path, visitor.get(path)) for path in pages] + [(path, program.get(path)) for path in operations]
    shown = {path: answer.text for path, answer in answers if answer.status_code == 200}
    assert len(shown) > LEAST_PAGES
    assert [path for path, text in shown.items() if NAME in text.casefold()] == []


@pytest.mark.usefixtures("planted")
def test_no_part_of_a_pseudonymous_archive_has_it(sqlite_database: Database, tmp_path: Path) -> None:
    stream = io.BytesIO()
    with sqlite_database.reading() as session:
        write_archive(session, SLUG, stream, Archiving(NOW, "0.1.0", "ab12cd"))
    with zipfile.ZipFile(stream) as bundle:
        having = [name for name in bundle.namelist() if NAME in bundle.read(name).decode(errors="replace").casefold()]
        assert having == []
        assert b'"judge": "person-' in bundle.read("pools.jsonl")
    Path("pseudonyms.zip").write_bytes(stream.getvalue())
    other = Database(sqlite_url(tmp_path / "other.sqlite"))
    upgrade_schema(other)
    other.close()
    CommandLine(str(other.engine.url)).done("collections", "import", "pseudonyms.zip")
