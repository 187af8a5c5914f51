"""The demonstration as a whole: real, complete, and kept with what was judged in it."""

import secrets
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from alembic import command

from annotator.clicks.workflows import click_logs
from annotator.demonstration import build
from annotator.demonstration.build import PASSWORD, SLUG, Demonstration, prepare_demonstration
from annotator.demonstration.corpus import python_documents
from annotator.settings import sqlite_url
from annotator.storage import Database
from annotator.storage.judging.leases import Decision
from annotator.storage.site.migrating import migration_config
from annotator.storage.site.schema import newest_version, version_of
from annotator.workflows.agreement import agreement, machine_judges
from annotator.workflows.collections import collection, rounds
from annotator.workflows.judging import judge_history, judging, recording
from annotator.workflows.leaderboard import leaderboard
from annotator.workflows.people import accounts, members
from annotator.workflows.runs.run_costs import costs_of_run

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demonstration")


@pytest.fixture(scope="module")
def made(directory: Path) -> Demonstration:
    return prepare_demonstration(directory, now=NOW)


@pytest.fixture
def database(made: Demonstration) -> Database:
    return Database(made.settings.database_url)


def test_it_has_thousands_of_documents_and_a_pool_that_is_judged_in_good_part(database: Database) -> None:
    with database.reading() as session:
        counts = collection.count_collection(session, SLUG)
    database.close()
    assert counts.topics >= 12
    assert counts.documents == counts.documents_with_text > 3000
    assert counts.runs == 6
    assert 300 <= counts.pool_items <= 550
    assert counts.judgements > counts.pool_items / 2


def test_no_page_of_it_is_empty(database: Database) -> None:
    with database.reading() as session:
        shown = rounds.list_rounds(session, SLUG)
        assert [(one.number, one.is_open, one.runs) for one in shown] == [(1, False, 4), (2, True, 2)]
        assert costs_of_run(session, SLUG, "tfidf-cosine").statements
        [log] = click_logs.list_logs(session, SLUG)
        [machine] = machine_judges.machine_reports(session, SLUG).machines
    database.close()
    assert log.name == "A/B test"
    assert sorted(filter(None, log.runs.values())) == ["bm25-porter", "tfidf-cosine"]
    assert machine.machine.name == "word-counter"


def test_every_shipped_label_is_used_or_counted_as_left_out(made: Demonstration) -> None:
    lines = [line.split("\t") for line in (build.HERE / "labels.tsv").read_text().splitlines()[1:]]
    shipped = sum(grade != "" for _, _, _, *grades in lines for grade in grades)
    assert made.labels_used + made.labels_left_out == shipped
    # The documentation changes slowly: on any Python from 3.11 most of the labels fit.
    assert made.labels_used > shipped * 0.7


def test_a_label_is_left_out_where_the_text_is_another_or_the_pool_has_no_such_document() -> None:
    labels = build.shipped_labels()
    corpus = python_documents()
    pool = {(label.topic, label.docno) for label in labels}
    fitting = build.fitting_labels(labels, corpus, pool)
    first = fitting[0]
    reworded = [
        replace(document, body=document.body + "!") if document.docno == first.docno else document
        for document in corpus
    ]
    assert first not in build.fitting_labels(labels, reworded, pool)
    assert first not in build.fitting_labels(labels, corpus, pool - {(first.topic, first.docno)})
    assert build.fitting_labels(labels, corpus[:0], pool) == []


def test_the_runs_differ_and_the_judges_agree_in_part(database: Database) -> None:
    with database.reading() as session:
        board = leaderboard.build_leaderboard(session, SLUG)
        pairs = agreement.agreement_report(session, SLUG).pairs
    database.close()
    assert len({row.values for row in board.rows}) == 6
    assert board.topics_left_out >= 1
    # A visitor's judgements may make further pairs.
    [pair] = [pair for pair in pairs if {pair.first, pair.second} == {"strict", "generous"}]
    assert pair.kappa.n > 150
    assert pair.kappa.value is not None
    assert 0.4 < pair.kappa.value < 0.95


def test_everyone_who_is_announced_can_sign_in(database: Database) -> None:
    with database.reading() as session:
        people = {name: accounts.sign_in(session, name, PASSWORD) for name in build.ROLES}
        for name, person in people.items():
            assert person is not None
            assert members.standing_of(session, SLUG, person.id).roles == {build.ROLES[name][0]}
    database.close()


def test_what_a_visitor_judges_is_kept_the_second_time(directory: Path, database: Database) -> None:
    with database.transaction() as session:
        jo = accounts.sign_in(session, "jo", PASSWORD)
        assert jo is not None
        collection.accept_guidelines(session, SLUG, jo.id, 1)
        work = judging.topics_to_judge(session, SLUG, jo.id, now=NOW)
        assert sum(topic.waiting for topic in work) >= 20
        task = judging.next_task(session, SLUG, work[0].number, jo.id, now=NOW)
        assert task is not None
        recording.record_judgement(
            session, SLUG, task.assignment_id, jo.id, Decision(1), client_id="visit", judged_at=NOW
        )
    again = prepare_demonstration(directory, now=NOW + timedelta(days=1))
    assert not again.is_new
    with database.reading() as session:
        [row] = judge_history.list_judged(session, SLUG, jo.id, judge_history.HistoryFilter()).rows
    database.close()
    assert row.decision.grade == 1


def test_the_tables_of_an_older_program_are_brought_to_this_version(tmp_path: Path) -> None:
    older = Database(sqlite_url(tmp_path / "annotator.sqlite"))
    command.upgrade(migration_config(older), "0001")
    assert not prepare_demonstration(tmp_path, now=NOW).is_new
    assert version_of(older) == newest_version()
    older.close()


def test_a_beginning_that_was_cut_off_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "unfinished.sqlite").write_bytes(b"half a database")
    assert prepare_demonstration(tmp_path, now=NOW).is_new
    assert sorted(path.name for path in tmp_path.iterdir()) == ["annotator.sqlite", "secret-key"]


def test_a_secret_key_that_was_cut_off_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_bytes: int) -> str:
        raise KeyboardInterrupt

    (tmp_path / "unfinished-secret-key").write_text("known to everybody")
    (tmp_path / "unfinished.sqlite").mkdir()  # the building would stop here: the key alone is made
    monkeypatch.setattr(secrets, "token_hex", interrupted)
    with pytest.raises(KeyboardInterrupt):
        prepare_demonstration(tmp_path, now=NOW)
    monkeypatch.undo()
    with pytest.raises(OSError, match=r"unfinished\.sqlite"):
        prepare_demonstration(tmp_path, now=NOW)
    key = tmp_path / "secret-key"
    assert len(key.read_text()) == 64
    assert key.stat().st_mode & 0o077 == 0


def test_only_its_owner_reads_the_secret_key(made: Demonstration, directory: Path) -> None:
    key = directory / "secret-key"
    assert key.stat().st_mode & 0o077 == 0
    assert key.read_text() == made.settings.secret_key
    assert len(made.settings.secret_key) == 64
