"""Runs: stored whole or not at all, corrected, withdrawn, and given back as they came."""

import gzip
import hashlib
from datetime import timedelta

import pytest
from build import LIMIT, NOW, SLUG, checked_run, document_file, member, news, pool, run, run_text, stored, topic_file
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, FileRefusedError, InvalidValueError, NotAllowedError, NotFoundError
from annotator.evaluation.runs.rankings import decode_documents, decode_scores
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.storage import Collection, Contribution, Document, RankedList, Role, Run, RunType, Topic, TopicState
from annotator.storage.documents.documents import docnos_of
from annotator.storage.runs.runs import RunDetails
from annotator.storage.runs.sent_runs import Receipt
from annotator.storage.tables.runs import RunState
from annotator.workflows.collections.collection import close_collection
from annotator.workflows.runs import run_upload, runs
from annotator.workflows.runs.file_checks import check_run_files

ORGANISER = Sender(None, organises=True)
REPLACING = Sender(None, organises=True, replaces=True)
RED = Sender("red", organises=False)
RED_REPLACING = Sender("red", organises=False, replaces=True)
LATER = NOW + timedelta(hours=1)


@pytest.fixture
def two_topics(session: Session) -> Session:
    news(session)
    topic_file(session)
    return session


def check(
    session: Session, *files: InputFile, sender: Sender = ORGANISER, tag_from_file: bool = False
) -> list[run_upload.CheckedRun]:
    return run_upload.check_runs(session, SLUG, files, sender=sender, tag_from_file=tag_from_file, unpacked_limit=LIMIT)


def problems_of(session: Session, *files: InputFile, sender: Sender = ORGANISER) -> list[str]:
    with pytest.raises(FileRefusedError) as refusal:
        check(session, *files, sender=sender)
    return [str(problem) for problem in refusal.value.problems]


def send(
    session: Session, tag: str, docnos: list[str], *, sender: Sender = RED, details: RunDetails | None = None
) -> Receipt:
    """One run for topic 1 sent an hour after `NOW`."""
    checked = check(session, InputFile(f"{tag}.run", run_text(tag, {"1": docnos})), sender=sender)
    [receipt] = run_upload.store_runs(
        session,
        SLUG,
        checked,
        details=RunDetails(sender.team) if details is None else details,
        uploaded_by_id=None,
        uploaded_at=LATER,
    )
    return receipt


def lists_of(session: Session, tag: str) -> dict[str, list[str]]:
    rows = session.execute(
        select(Topic.number, RankedList.documents)
        .join(Topic, Topic.id == RankedList.topic_id)
        .join(Run, Run.id == RankedList.run_id)
        .where(Run.tag == tag, Run.replaced_at.is_(None))
    )
    found = {number: decode_documents(packed).tolist() for number, packed in rows}
    names = docnos_of(session, {id_ for ids in found.values() for id_ in ids})
    return {number: [names[id_] for id_ in ids] for number, ids in found.items()}


def test_a_run_is_stored_in_trec_evals_order_whatever_its_rank_column_says(two_topics: Session) -> None:
    # Equal scores: the greater docno comes first.
    text = b"1 Q0 a 1 5 r\n1 Q0 c 2 5 r\n1 Q0 b 3 9 r\n"
    stored(two_topics, check(two_topics, InputFile("r.run", text)))
    assert lists_of(two_topics, "r") == {"1": ["b", "c", "a"]}
    assert decode_scores(two_topics.scalars(select(RankedList.scores)).one()).tolist() == [9, 5, 5]


def test_runs_share_the_documents_that_are_there_already(two_topics: Session) -> None:
    run(two_topics, "first", {"1": ["b", "a", "long-docno-of-several-words"]})
    document_file(two_topics, ["c"])
    lists = {"1": ["c", "long-docno-of-several-words"], "2": ["d", "a"]}
    stored(two_topics, [*checked_run(two_topics, "second", lists), *checked_run(two_topics, "third", lists)])
    assert lists_of(two_topics, "second") == lists_of(two_topics, "third") == lists
    docnos = two_topics.scalars(select(Document.docno).order_by(Document.docno)).all()
    assert docnos == ["a", "b", "c", "d", "long-docno-of-several-words"]


def test_documents_that_came_since_the_check_are_not_made_twice(two_topics: Session) -> None:
    checked = checked_run(two_topics, "r", {"1": ["a", "b"]})
    run(two_topics, "between", {"1": ["b", "z"]})
    stored(two_topics, checked)
    assert lists_of(two_topics, "r") == {"1": ["a", "b"]}


def test_what_was_undone_is_stored_by_the_next_try(two_topics: Session) -> None:
    checked = checked_run(two_topics, "r", {"1": ["a", "b"]})
    with two_topics.begin_nested() as attempt:
        stored(two_topics, checked)
        attempt.rollback()
    run(two_topics, "between", {"1": ["z"]})
    stored(two_topics, checked)
    assert lists_of(two_topics, "r") == {"1": ["a", "b"]}


@pytest.mark.parametrize("packed", [False, True])
def test_a_run_is_given_back_byte_for_byte(two_topics: Session, *, packed: bool) -> None:
    text = b"# comment\r\n" + run_text("r", {"1": ["a", "b"]})
    content = gzip.compress(text) if packed else text
    [receipt] = stored(two_topics, check(two_topics, InputFile("folder/r.run", content)))
    assert (receipt.tag, receipt.file_name, receipt.bytes) == ("r", "r.run", len(content))
    assert receipt.checksum == hashlib.sha256(content).hexdigest()
    assert runs.receipt_of(two_topics, SLUG, "r") == receipt
    assert runs.original_file(two_topics, SLUG, "r") == InputFile("r.run", content)


def test_a_receipt_tells_what_was_stored_and_who_sent_it(two_topics: Session) -> None:
    pat = member(two_topics, "pat")
    checked = check(two_topics, InputFile("r.run", b"1 Q0 a 1 1 r\n1 Q0 b 2 1 r\n2 Q0 a 1 1 r\n"), sender=RED)
    [receipt] = run_upload.store_runs(
        two_topics,
        SLUG,
        checked,
        details=RunDetails("red", "BM25", RunType.MANUAL, 3),
        uploaded_by_id=pat,
        uploaded_at=NOW,
    )
    assert (receipt.team, receipt.uploaded_by, receipt.uploaded_at) == ("red", "pat", NOW)
    assert (receipt.topics, receipt.retrieved, receipt.warnings, receipt.corrects) == (2, 3, 1, False)
    assert (receipt.description, receipt.run_type, receipt.priority) == ("BM25", RunType.MANUAL, 3)
    assert runs.receipt_of(two_topics, SLUG, "r", team="red") == receipt


def test_every_problem_of_every_file_is_told_and_nothing_stored(two_topics: Session) -> None:
    first = InputFile("one.run", b"1 Q0 a 1 5 r\n1 Q0 b 2 many r\n3 Q0 c 1 5 r\n")
    second = InputFile("two.run", b"1 Q0 a 1 5\n")
    third = InputFile("three.run.gz", gzip.compress(b"1 Q0 a 1 5 t\n")[:-4])
    problems = problems_of(two_topics, first, second, third)
    places = [problem.partition(": ")[0] for problem in problems]
    assert places == ["one.run:2", "one.run:3", "two.run:1", "three.run.gz"]
    assert two_topics.scalar(select(func.count()).select_from(Run)) == 0
    assert two_topics.scalar(select(func.count()).select_from(Document)) == 0


def test_a_tag_already_taken_is_named_with_the_line_it_stands_on(two_topics: Session) -> None:
    run(two_topics, "r", {"1": ["a"]})
    again = InputFile("again.run", b"# my run\n\n" + run_text("r", {"1": ["a"]}))
    assert problems_of(two_topics, again) == ["again.run:3: The tag r is taken by another run."]


def test_a_tag_that_two_files_share_is_refused(two_topics: Session) -> None:
    files = [InputFile(name, run_text("same", {"1": ["a"]})) for name in ("one.run", "two.run")]
    assert problems_of(two_topics, *files) == ["two.run:1: The tag same is also the tag of one.run."]


def test_files_that_share_a_tag_take_theirs_from_their_names(two_topics: Session) -> None:
    files = [InputFile(f"runs/{name}", run_text("same", {"1": ["a"]})) for name in ("one.gz", "two.txt.gz", "three")]
    files[0] = InputFile("runs/one.gz", gzip.compress(files[0].content))
    checked = check(two_topics, *files, tag_from_file=True)
    assert [one.parsed.tag for one in checked] == ["one", "two", "three"]


def test_a_tag_taken_since_the_check_refuses_the_whole_import(two_topics: Session) -> None:
    checked = [*checked_run(two_topics, "a", {"1": ["x"]}), *checked_run(two_topics, "b", {"1": ["x"]})]
    run(two_topics, "b", {"1": ["y"]})
    with pytest.raises(FileRefusedError, match="Problems found: 1"):
        stored(two_topics, checked)
    assert two_topics.scalars(select(Run.tag)).all() == ["b"]


def test_a_topic_that_went_since_the_check_refuses_the_import(two_topics: Session) -> None:
    checked = checked_run(two_topics, "a", {"1": ["x"], "2": ["x"]})
    two_topics.delete(two_topics.scalars(select(Topic).where(Topic.number == "2")).one())
    with pytest.raises(FileRefusedError) as refusal:
        stored(two_topics, checked)
    assert [str(problem) for problem in refusal.value.problems] == ["a.run: There is no topic 2 any more."]


def test_many_documents_of_which_a_run_has_few_are_looked_up_one_by_one(two_topics: Session) -> None:
    document_file(two_topics, [f"d{number}" for number in range(30)])
    run(two_topics, "r", {"1": ["d7", "new", "d3"]})
    assert lists_of(two_topics, "r") == {"1": ["d7", "new", "d3"]}


def test_runs_are_listed_by_tag_and_by_team(two_topics: Session) -> None:
    run(two_topics, "r10", {"1": ["a", "b"]}, team="red")
    run(two_topics, "r9", {"1": ["a"], "2": ["a"]})
    listed = runs.list_runs(two_topics, SLUG)
    assert [(row.tag, row.team, row.topics, row.retrieved, row.pooled) for row in listed] == [
        ("r9", None, 2, 2, False),
        ("r10", "red", 1, 2, False),
    ]
    assert [row.tag for row in runs.list_runs(two_topics, SLUG, team="red")] == ["r10"]


@pytest.mark.parametrize("tag", ["x" * 129, "bell\u200b"])
def test_a_tag_that_cannot_be_shown_is_refused(two_topics: Session, tag: str) -> None:
    text = f"1 Q0 a 1 1 {tag}\n".encode()
    assert problems_of(two_topics, InputFile("r.run", text)) == [
        "r.run:1: A tag has at most 128 printable characters and no blanks."
    ]


@pytest.mark.parametrize("ending", ["/file", "/costs", "/restore", "/answers"])
def test_a_tag_that_ends_as_an_address_of_the_api_does_is_refused(two_topics: Session, ending: str) -> None:
    text = f"1 Q0 a 1 1 ours{ending}\n".encode()
    assert problems_of(two_topics, InputFile("r.run", text)) == [
        f"r.run:1: A tag cannot end in {ending}, which addresses of the API use."
    ]


def test_two_files_of_one_name_cannot_share_a_tag(two_topics: Session) -> None:
    files = [InputFile("r.run", run_text("r", {"1": [docno]})) for docno in "ab"]
    assert problems_of(two_topics, *files) == ["r.run:1: The tag r is also the tag of r.run."]


def test_a_taken_tag_is_told_together_with_whatever_else_is_wrong_in_the_order_of_the_lines(
    two_topics: Session,
) -> None:
    run(two_topics, "r", {"1": ["a"]})
    text = b"# mine\n1 Q0 a 1 5 r\n9 Q0 a 1 5 r\n1 Q0 b 2\n1 Q0 a 3 1 r\n"
    problems = problems_of(two_topics, InputFile("again.run", text))
    assert [problem.partition(": ")[0].rpartition(":")[2] for problem in problems] == ["2", "3", "4", "5"]


@pytest.mark.parametrize("description", ["NUL\0", "half \ud800", "x" * 1001])
def test_a_description_that_no_database_can_hold_is_refused(two_topics: Session, description: str) -> None:
    with pytest.raises(InvalidValueError):
        send(two_topics, "r", ["a"], details=RunDetails("red", description))


@pytest.mark.parametrize("priority", [0, 100, -1])
def test_a_priority_lies_between_1_and_99(two_topics: Session, priority: int) -> None:
    with pytest.raises(InvalidValueError, match="A priority is a number from 1"):
        send(two_topics, "r", ["a"], details=RunDetails("red", priority=priority))


def test_a_team_corrects_its_run_and_the_older_file_is_kept(two_topics: Session) -> None:
    first = send(two_topics, "r", ["a", "b"], details=RunDetails("red", "BM25", RunType.AUTOMATIC, 2))
    pool(two_topics, depth=1)
    [checked] = check(two_topics, InputFile("r2.run", run_text("r", {"1": ["c"]})), sender=RED_REPLACING)
    assert checked.corrects
    [second] = stored(two_topics, [checked], team="red")
    assert (first.corrects, second.corrects, second.version, second.pooled) == (False, True, 2, False)
    # What nobody said anew stays as it was said.
    assert (second.description, second.run_type, second.priority) == ("BM25", RunType.AUTOMATIC, 2)
    assert [(row.version, row.state) for row in runs.list_runs(two_topics, SLUG)] == [(2, RunState.IN_FORCE)]
    every = runs.list_runs(two_topics, SLUG, every=True)
    assert [(row.version, row.state, row.replaced_at, row.pooled) for row in every] == [
        (1, RunState.REPLACED, NOW, True),
        (2, RunState.IN_FORCE, None, False),
    ]
    assert lists_of(two_topics, "r") == {"1": ["c"]}
    assert runs.original_file(two_topics, SLUG, "r", version=1).content == run_text("r", {"1": ["a", "b"]})
    assert runs.original_file(two_topics, SLUG, "r").name == "r2.run"
    assert runs.receipt_of(two_topics, SLUG, "r", version=1).checksum == first.checksum
    assert two_topics.scalar(select(func.count()).select_from(Contribution)) == 1
    with pytest.raises(NotFoundError, match="has no version 3; its newest is 2"):
        runs.original_file(two_topics, SLUG, "r", version=3)


def test_a_tag_of_another_team_or_of_none_is_taken_whoevers_it_is(two_topics: Session) -> None:
    send(two_topics, "theirs", ["a"], sender=Sender("blue", organises=False))
    run(two_topics, "nobodys", {"1": ["a"]})
    for tag in ("theirs", "nobodys"):
        again = InputFile("again.run", run_text(tag, {"1": ["a"]}))
        assert problems_of(two_topics, again, sender=RED) == [f"again.run:1: The tag {tag} is taken by another run."]


def test_an_organiser_corrects_only_when_asked_to(two_topics: Session) -> None:
    send(two_topics, "r", ["a"])
    again = InputFile("again.run", run_text("r", {"1": ["b"]}))
    assert problems_of(two_topics, again) == ["again.run:1: The tag r is taken by another run."]
    assert problems_of(two_topics, again, sender=Sender("blue", organises=True, replaces=True)) == [
        "again.run:1: The tag r is that of a run of another team."
    ]
    receipt = send(two_topics, "r", ["b"], sender=REPLACING)
    assert (receipt.team, receipt.corrects) == ("red", True)
    assert not send(two_topics, "new", ["b"], sender=REPLACING).corrects


def test_a_run_that_was_corrected_since_the_check_is_not_corrected_again(two_topics: Session) -> None:
    send(two_topics, "r", ["a"])
    checked = check(two_topics, InputFile("r.run", run_text("r", {"1": ["b"]})), sender=RED_REPLACING)
    send(two_topics, "r", ["c"], sender=RED_REPLACING)
    with pytest.raises(FileRefusedError) as refusal:
        stored(two_topics, checked, team="red")
    assert [str(problem) for problem in refusal.value.problems] == [
        "r.run: Another file of the run r was stored while this one was checked. Send this one again to replace it."
    ]
    assert lists_of(two_topics, "r") == {"1": ["c"]}


def test_a_run_that_went_since_the_check_is_not_corrected(two_topics: Session) -> None:
    send(two_topics, "r", ["a"])
    checked = check(two_topics, InputFile("r.run", run_text("r", {"1": ["b"]})), sender=RED_REPLACING)
    two_topics.execute(update(Run).values(tag="other"))
    with pytest.raises(FileRefusedError) as refusal:
        stored(two_topics, checked, team="red")
    assert [str(problem) for problem in refusal.value.problems] == [
        "r.run: The run r, which this file replaces, is not there any more. Send the file again."
    ]


def test_a_run_is_withdrawn_and_restored(two_topics: Session) -> None:
    pat = member(two_topics, "pat", Role.PARTICIPANT, team="red")
    send(two_topics, "r", ["a"])
    runs.withdraw_run(two_topics, SLUG, "r", at=LATER, team="red", by_id=pat)
    assert runs.list_runs(two_topics, SLUG) == []
    [row] = runs.list_runs(two_topics, SLUG, every=True)
    assert (row.state, row.withdrawn_at) == (RunState.WITHDRAWN, LATER)
    assert runs.original_file(two_topics, SLUG, "r").content == run_text("r", {"1": ["a"]})
    with pytest.raises(ConflictError, match="withdrawn already"):
        runs.withdraw_run(two_topics, SLUG, "r", at=LATER)
    again = InputFile("r.run", run_text("r", {"1": ["b"]}))
    assert problems_of(two_topics, again, sender=RED) == [
        "r.run:1: Your team has withdrawn the run r. Restore it before you correct it, or take another tag."
    ]
    runs.restore_run(two_topics, SLUG, "r", team="red", at=LATER, by_id=pat)
    assert [row.state for row in runs.list_runs(two_topics, SLUG)] == [RunState.IN_FORCE]
    with pytest.raises(ConflictError, match="is not withdrawn"):
        runs.restore_run(two_topics, SLUG, "r", at=LATER)


def test_an_organiser_replaces_a_withdrawn_run(two_topics: Session) -> None:
    send(two_topics, "r", ["a"])
    runs.withdraw_run(two_topics, SLUG, "r", at=LATER)
    send(two_topics, "r", ["b"], sender=REPLACING)
    assert [row.state for row in runs.list_runs(two_topics, SLUG, every=True)] == [
        RunState.REPLACED,
        RunState.IN_FORCE,
    ]


def test_a_team_sees_and_changes_only_its_own(two_topics: Session) -> None:
    pat = member(two_topics, "pat", Role.PARTICIPANT, team="red")
    bea = member(two_topics, "bea", Role.PARTICIPANT, team="blue")
    send(two_topics, "r", ["a"])
    sentence = "There is no run “r” in this collection."
    for change in (
        lambda: runs.withdraw_run(two_topics, SLUG, "r", at=LATER, team="blue", by_id=bea),
        lambda: runs.restore_run(two_topics, SLUG, "r", team="blue", at=LATER, by_id=bea),
        lambda: runs.change_run(
            two_topics, SLUG, "r", details=RunDetails(priority=2), team="blue", at=LATER, by_id=bea
        ),
        lambda: runs.show_run(two_topics, SLUG, "r", team="blue"),
        lambda: runs.receipt_of(two_topics, SLUG, "r", team="blue"),
        lambda: runs.original_file(two_topics, SLUG, "r", team="blue"),
    ):
        with pytest.raises(NotFoundError, match=sentence):
            change()
    runs.change_run(two_topics, SLUG, "r", details=RunDetails("blue", priority=2), team="red", at=LATER, by_id=pat)
    [row] = runs.list_runs(two_topics, SLUG, team="red")
    assert row.priority == 2


def test_what_is_said_of_a_run_is_changed_and_the_rest_left(two_topics: Session) -> None:
    send(two_topics, "r", ["a"], details=RunDetails("red", "BM25"))
    runs.change_run(two_topics, SLUG, "r", details=RunDetails(run_type=RunType.MANUAL, priority=99), at=LATER)
    row = runs.show_run(two_topics, SLUG, "r").row
    assert (row.team, row.description, row.run_type, row.priority) == ("red", "BM25", RunType.MANUAL, 99)
    runs.change_run(two_topics, SLUG, "r", details=RunDetails("blue", description=""), at=LATER)
    row = runs.show_run(two_topics, SLUG, "r").row
    assert (row.team, row.description, row.priority) == ("blue", "", 99)


def test_a_closed_collection_keeps_its_runs_as_they_are(two_topics: Session) -> None:
    send(two_topics, "r", ["a"])
    close_collection(two_topics, SLUG)
    for change in (
        lambda: check(two_topics, InputFile("s.run", run_text("s", {"1": ["a"]}))),
        lambda: runs.withdraw_run(two_topics, SLUG, "r", at=LATER),
        lambda: runs.restore_run(two_topics, SLUG, "r", at=LATER),
        lambda: runs.change_run(two_topics, SLUG, "r", details=RunDetails(priority=2), at=LATER),
    ):
        with pytest.raises(ConflictError, match="is closed"):
            change()
    assert runs.original_file(two_topics, SLUG, "r").name == "r.run"


def test_warnings_are_kept_with_their_values_apart(two_topics: Session) -> None:
    checked = check(two_topics, InputFile("r.run", b"1 Q0 a 1 1 r\n1 Q0 b 2 1 r\n"))
    assert [str(warning).partition(":")[0] for warning in checked[0].warnings] == [
        "Topics that the run leaves out",
        "Documents that share their score with another of their topic",
    ]
    stored(two_topics, checked)
    view = runs.show_run(two_topics, SLUG, "r")
    assert view.warnings == checked[0].warnings
    assert (view.row.warnings, len(view.versions)) == (2, 1)


def test_only_accepted_topics_are_missed(two_topics: Session) -> None:
    two_topics.scalars(select(Topic).where(Topic.number == "2")).one().state = TopicState.DROPPED
    [checked] = check(two_topics, InputFile("r.run", run_text("r", {"1": ["a"]})))
    assert checked.warnings == ()
    [checked] = check(two_topics, InputFile("r.run", run_text("r", {"1": ["a"], "2": ["a"]})))
    assert checked.warnings == ()


def test_documents_are_missed_once_the_corpus_is_loaded(two_topics: Session) -> None:
    file = InputFile("r.run", run_text("r", {"1": ["a", "x"], "2": ["x", "a", "y"]}))
    assert check(two_topics, file)[0].warnings == ()
    document_file(two_topics, ["a", *(f"unused{number}" for number in range(20))])
    run(two_topics, "earlier", {"1": ["a", "y"], "2": ["a"]})
    assert [str(warning) for warning in check(two_topics, file)[0].warnings] == [
        "Documents that are not in the corpus: 2; lines with them: 3; first lines: 2, 3, 5."
    ]


def test_a_collection_says_how_many_documents_a_topic_may_have(two_topics: Session) -> None:
    runs_file = InputFile("r.run", run_text("r", {"1": ["a", "b", "c"], "2": ["a"]}))
    assert check(two_topics, runs_file)[0].warnings == ()
    two_topics.scalars(select(Collection)).one().most_documents = 2
    assert [str(warning) for warning in check(two_topics, runs_file)[0].warnings] == [
        "Topics with more than 2 documents: 1; the longest list has 3; first lines past that: 3."
    ]


def test_runs_are_checked_at_home_with_a_file_of_topics() -> None:
    topics = InputFile("topics.tsv", b"1\tfirst\n2\tsecond\n")
    good = InputFile("good.run", run_text("good", {"1": ["a", "b"]}))
    [read] = check_run_files([good], topics, most_documents=1, unpacked_limit=LIMIT).runs
    assert (read.parsed.tag, read.file_name, len(read.warnings)) == ("good", "good.run", 2)
    bad = InputFile("bad.run", run_text("good", {"3": ["a"]}))
    both = check_run_files([good, bad], topics, most_documents=1, unpacked_limit=LIMIT)
    assert [(run.file_name, len(run.warnings)) for run in both.runs] == [("good.run", 2)]
    assert [str(problem) for problem in both.problems.by_file()] == [
        "bad.run:1: The tag good is also the tag of good.run.",
        "bad.run:1: The file of topics has no topic 3.",
    ]
    with pytest.raises(FileRefusedError, match="Problems found: 1"):
        check_run_files([good], InputFile("t", b"no tab\n"), most_documents=1, unpacked_limit=LIMIT)


def test_a_team_corrects_only_when_it_says_so_and_never_by_the_same_file(two_topics: Session) -> None:
    send(two_topics, "r", ["a"])
    again = InputFile("again.run", run_text("r", {"1": ["b"]}))
    [unticked] = problems_of(two_topics, again, sender=RED)
    assert unticked.startswith("again.run:1: Your team has a run r already. Tick “Replace runs with the same tag”")
    same = InputFile("same.run", run_text("r", {"1": ["a"]}))
    for sender in (RED, RED_REPLACING, ORGANISER, REPLACING):
        assert problems_of(two_topics, same, sender=sender)[0] == (
            "same.run:1: This file is stored already, as the run r."
        )
    blue = Sender("blue", organises=False, replaces=True)
    assert problems_of(two_topics, same, sender=blue) == ["same.run:1: The tag r is taken by another run."]
    assert send(two_topics, "r", ["b"], sender=RED_REPLACING).version == 2
    assert send(two_topics, "r", ["a"], sender=RED_REPLACING).version == 3


def test_what_an_organiser_withdrew_is_not_the_teams_to_restore(two_topics: Session) -> None:
    ola = member(two_topics, "ola", Role.ORGANISER)
    pat = member(two_topics, "pat", Role.PARTICIPANT, team="red")
    send(two_topics, "r", ["a"])
    runs.withdraw_run(two_topics, SLUG, "r", at=LATER, by_id=ola)
    [row] = runs.list_runs(two_topics, SLUG, every=True)
    assert (row.withdrawn_by, row.withdrawn_by_team) == ("ola", False)
    with pytest.raises(NotAllowedError, match="Only they can restore it"):
        runs.restore_run(two_topics, SLUG, "r", team="red", at=LATER, by_id=pat)
    again = InputFile("r.run", run_text("r", {"1": ["b"]}))
    assert problems_of(two_topics, again, sender=RED_REPLACING) == [
        "r.run:1: The organisers have withdrawn the run r. Take another tag."
    ]
    runs.restore_run(two_topics, SLUG, "r", at=LATER)
    runs.withdraw_run(two_topics, SLUG, "r", at=LATER, team="red", by_id=pat)
    runs.restore_run(two_topics, SLUG, "r", team="red", at=LATER, by_id=pat)
    [row] = runs.list_runs(two_topics, SLUG)
    assert (row.withdrawn_at, row.withdrawn_by, row.withdrawn_by_team) == (None, None, False)


def test_a_run_that_was_withdrawn_since_the_check_is_not_corrected(two_topics: Session) -> None:
    send(two_topics, "r", ["a"])
    checked = check(two_topics, InputFile("r.run", run_text("r", {"1": ["b"]})), sender=RED_REPLACING)
    runs.withdraw_run(two_topics, SLUG, "r", at=LATER)
    with pytest.raises(FileRefusedError) as refusal:
        stored(two_topics, checked, team="red")
    assert [str(problem) for problem in refusal.value.problems] == [
        "r.run: The organisers have withdrawn the run r. Take another tag."
    ]


def test_drafts_are_unknown_topics_to_participants_alone(two_topics: Session) -> None:
    file = InputFile("r.run", run_text("r", {"1": ["a"], "2": ["a"]}))
    checked = check(two_topics, file, sender=RED)
    two_topics.scalars(select(Topic).where(Topic.number == "2")).one().state = TopicState.DRAFT
    assert problems_of(two_topics, file, sender=RED) == ["r.run:2: The collection has no topic 2."]
    with pytest.raises(FileRefusedError):
        stored(two_topics, checked, team="red")
    stored(two_topics, check(two_topics, file))


def test_each_file_is_told_of_when_some_are_bad(two_topics: Session) -> None:
    good, bad = InputFile("good.run", run_text("good", {"1": ["a"]})), InputFile("bad.run", b"1 Q0 a 1 high bad\n")
    both = run_upload.check_each_run(two_topics, SLUG, [bad, good], sender=RED, unpacked_limit=LIMIT)
    assert [(run.file_name, len(run.warnings)) for run in both.runs] == [("good.run", 1)]
    assert [problem.file for problem in both.problems.by_file()] == ["bad.run"]
    none = run_upload.check_each_run(two_topics, SLUG, [bad], sender=RED, unpacked_limit=LIMIT)
    assert (none.runs, none.problems.total) == ([], 1)


def test_docnos_of_any_number_of_documents_are_found_and_unknown_ids_have_none(session: Session) -> None:
    names = {f"doc-{number}" for number in range(1_201)}
    news(session)
    collection = session.scalars(select(Collection)).one()
    session.add_all(Document(collection_id=collection.id, docno=name) for name in sorted(names))
    session.flush()
    expected = {document.id: document.docno for document in session.scalars(select(Document))}
    assert set(expected.values()) == names
    assert docnos_of(session, [*expected, max(expected) + 1]) == expected
    assert docnos_of(session, list(expected)[:1]) == dict(list(expected.items())[:1])
    assert docnos_of(session, []) == {}
