"""The files of a collection for participants, by program."""

import hashlib
from datetime import UTC, datetime

import pytest
from build import NOW, SLUG, labels
from calling import NEWS, Caller
from sqlalchemy import update

from annotator.storage import Database, Topic, TopicState
from annotator.workflows.collections.collection import set_guidelines
from annotator.workflows.people.tokens import Scope
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.runs import submissions
from annotator.workflows.runs.submissions import Deadline, SubmissionChange, change_submissions
from annotator.workflows.runs.tasks import TaskFields, add_task

FILES = f"{NEWS}/files"


@pytest.fixture(autouse=True)
def _shared(news: None, database: Database) -> None:
    """Qrels are shared, and one version is kept."""
    del news
    with database.transaction() as session:
        change_submissions(session, SLUG, SubmissionChange(Deadline(NOW), corpus="At the archive.", shares_qrels=True))
        labels(session, "jo", "1 0 a 2\n")
        made = qrels.export_qrels(session, SLUG, made_at=NOW)
        qrels_versions.keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)


def test_a_program_loads_every_file_of_the_list_with_the_checksum_there(program: Caller) -> None:
    pat = program("pat", Scope.READ)
    found = pat.get(FILES).json
    assert [one["name"] for one in found] == ["topics.jsonl", "run-rules.json", "corpus.txt"]
    assert (found[2]["kind"], found[2]["task"], found[2]["version"]) == ("corpus", None, None)
    for one in found:
        sent = pat.get(f"{FILES}/{one['name']}")
        assert (len(sent.data), hashlib.sha256(sent.data).hexdigest()) == (one["bytes"], one["sha256"])
    assert [line.split()[1] for line in pat.get(f"{FILES}/SHA256SUMS").text.splitlines()] == [
        *("topics.jsonl", "corpus.txt")
    ]


def test_a_token_that_sends_runs_alone_loads_topics_rules_and_guidelines(program: Caller, database: Database) -> None:
    with database.transaction() as session:
        submissions.release_scores(session, SLUG, at=datetime.now(UTC), qrels="1", early=True)
        add_task(session, SLUG, "first", TaskFields("First", topics=("1",)), at=NOW)
        set_guidelines(session, SLUG, "# Read to the end", made_by_id=None, made_at=NOW)
    pat = program("pat", Scope.RUNS)
    answers = {one["name"]: pat.get(f"{FILES}/{one['name']}") for one in pat.get(FILES).json}
    assert {name: answer.status_code for name, answer in answers.items()} == {
        "topics.jsonl": 200,
        "topics-first.jsonl": 200,
        "qrels-1.txt": 403,
        "run-rules.json": 200,
        "guidelines.md": 200,
        "corpus.txt": 403,
    }
    assert "needs one of the scopes read" in answers["qrels-1.txt"].json["detail"]
    assert {pat.get(f"{FILES}/{name}").status_code for name in ("docnos.txt", "SHA256SUMS")} == {403}
    pat = program("pat", Scope.READ)
    assert {pat.get(f"{FILES}/{name}").status_code for name in ("qrels-1.txt", "SHA256SUMS")} == {200}


def test_qrels_are_there_while_scores_computed_from_them_are_released(program: Caller, database: Database) -> None:
    pat, ola = program("pat"), program("ola")
    for caller in (pat, ola):
        refused = caller.get(f"{FILES}/qrels-1.txt")
        assert (refused.status_code, refused.json["detail"]) == (
            404,
            "There is no such file, or you may not download it.",
        )
    with database.transaction() as session:
        submissions.release_scores(session, SLUG, at=datetime.now(UTC), qrels="1", early=True)
    [listed] = [one for one in pat.get(FILES).json if one["kind"] == "qrels"]
    assert (listed["name"], listed["version"], listed["lines"], listed["bytes"]) == ("qrels-1.txt", 1, 1, 8)
    assert listed["dropped_topics"] == []
    with database.transaction() as session:
        session.execute(update(Topic).where(Topic.number == "1").values(state=TopicState.DROPPED, reason="Dull."))
    assert [one["dropped_topics"] for one in pat.get(FILES).json if one["kind"] == "qrels"] == [["1"]]
    assert pat.get(f"{FILES}/qrels-1.txt").data == b"1 0 a 2\n"
    ola.call("PATCH", f"{NEWS}/settings", json={"shares_qrels": False})
    assert pat.get(f"{FILES}/qrels-1.txt").status_code == 404


def test_the_list_says_why_qrels_are_withheld_while_runs_are_accepted(program: Caller, database: Database) -> None:
    with database.transaction() as session:
        submissions.release_scores(session, SLUG, at=datetime.now(UTC), qrels="1", early=True)
        change_submissions(session, SLUG, SubmissionChange(Deadline(None)))
    pat = program("pat")
    [listed] = [one for one in pat.get(FILES).json if one["kind"] == "qrels"]
    assert (listed["lines"], listed["bytes"], listed["sha256"]) == (None, None, None)
    reason = (
        "Participants can download version 1 of the qrels when no more runs are accepted: after a submission "
        "deadline, or when the collection is closed."
    )
    refused = pat.get(f"{FILES}/qrels-1.txt")
    assert (listed["problem"], refused.status_code, refused.json["detail"]) == (reason, 409, reason)
