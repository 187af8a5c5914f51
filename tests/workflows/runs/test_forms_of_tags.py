"""A tag is the same one in composed and in decomposed letters, and a run keeps the form in which it was stored."""

import json
from unicodedata import normalize

import pytest
from build import NOW, SLUG, member, news, run_text, topic_file
from sqlalchemy import select

from annotator.errors import ConflictError, FileRefusedError
from annotator.evaluation.runs.checking_rules import read_rules
from annotator.evaluation.runs.run_tags import Sender
from annotator.evaluation.runs.search_engines import SearchEngine
from annotator.files import InputFile
from annotator.storage import Database, Role, Run
from annotator.storage.collections.audit import Actor
from annotator.storage.runs.runs import RunDetails
from annotator.storage.tables.collections import Door
from annotator.workflows.runs import run_rules, run_upload
from annotator.workflows.runs.engine_requests import EngineAccess
from annotator.workflows.runs.file_checks import check_by_rules
from annotator.workflows.runs.run_fetching import RunOrder, check_order
from annotator.workflows.runs.run_upload import Submission

LIMIT = 1 << 20
COMPOSED = normalize("NFC", "서울대-é")
DECOMPOSED = normalize("NFD", COMPOSED)
RED = Sender("red", organises=False)
REPLACES = Sender("red", organises=False, replaces=True)


@pytest.fixture
def red(database: Database) -> int:
    """A participant of the team red."""
    with database.transaction() as session:
        news(session)
        topic_file(session)
        return member(session, "pat", Role.PARTICIPANT, team="red")


def file(tag: str, first: str = "a", name: str = "a.txt") -> InputFile:
    return InputFile(name, run_text(tag, {"1": [first], "2": ["b"]}))


def send(database: Database, user: int, *given: InputFile, sender: Sender = RED) -> list[str]:
    done = run_upload.upload(
        database,
        SLUG,
        given,
        Submission(sender, RunDetails("red")),
        actor=Actor(Door.PAGE, "pat", user),
        at=NOW,
        noted_at=NOW,
        unpacked_limit=LIMIT,
    )
    return [one.tag for one in done.receipts]


def refusal(database: Database, user: int, *given: InputFile, sender: Sender = RED) -> str:
    with pytest.raises(FileRefusedError) as refused:
        send(database, user, *given, sender=sender)
    return " ".join(str(problem) for problem in refused.value.problems)


@pytest.mark.parametrize(("first", "second"), [(DECOMPOSED, COMPOSED), (COMPOSED, DECOMPOSED)])
def test_a_run_that_is_sent_again_in_other_letters_is_the_same_run(
    database: Database, red: int, first: str, second: str
) -> None:
    assert first != second
    assert send(database, red, file(first)) == [first]
    assert f"Your team has a run {first} already." in refusal(database, red, file(second, "c"))
    with database.reading() as session:
        rules = read_rules(json.dumps(run_rules.rules_document(session, SLUG, RED)))
    problems = check_by_rules([file(second, "c")], rules, unpacked_limit=LIMIT).problems
    assert f"Your team has a run {first} already." in str(problems.by_file()[0])
    assert send(database, red, file(second, "c"), sender=REPLACES) == [first]
    with database.reading() as session:
        assert [run.replaced_at is None for run in session.scalars(select(Run).order_by(Run.id))] == [False, True]
        order = RunOrder(SearchEngine("https://search.example.org/_search", "q={query}"), second, RunDetails())
        with pytest.raises(ConflictError, match="is taken by another run"):
            check_order(session, SLUG, order, EngineAccess(("search.example.org",)))


def test_two_files_with_one_tag_in_two_forms_are_refused(database: Database, red: int) -> None:
    found = refusal(database, red, file(COMPOSED), file(DECOMPOSED, "c", name="b.txt"))
    assert "is also the tag of a.txt" in found


def test_a_run_that_was_stored_meanwhile_in_other_letters_is_found_under_the_lock(database: Database, red: int) -> None:
    with database.reading() as session:
        checked = run_upload.check_runs(session, SLUG, [file(COMPOSED)], sender=RED, unpacked_limit=LIMIT)
    send(database, red, file(DECOMPOSED, "c"))
    with pytest.raises(FileRefusedError, match="already"), database.transaction() as session:
        run_upload.store_runs(session, SLUG, checked, details=RunDetails("red"), uploaded_by_id=red, uploaded_at=NOW)
    with database.reading() as session:
        assert list(session.scalars(select(Run.tag))) == [DECOMPOSED]
