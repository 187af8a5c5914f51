"""Runs: stored whole or not at all, and given back as they came."""

import gzip

import pytest
from build import LIMIT, NOW, SLUG, news, run, run_text, topic_file
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import FileRefusedError, InvalidValueError
from annotator.evaluation.rankings import decode_documents, decode_scores
from annotator.files import InputFile
from annotator.storage import Document, RankedList, Run
from annotator.storage.documents import docnos_of
from annotator.workflows import runs


@pytest.fixture
def two_topics(session: Session) -> Session:
    news(session)
    topic_file(session)
    return session


def check(session: Session, *files: InputFile, tag_from_file: bool = False) -> list[runs.CheckedRun]:
    return runs.check_runs(session, SLUG, files, tag_from_file=tag_from_file, unpacked_limit=LIMIT)


def problems_of(session: Session, *files: InputFile) -> list[str]:
    with pytest.raises(FileRefusedError) as refusal:
        check(session, *files)
    return [str(problem) for problem in refusal.value.problems]


def test_a_run_is_stored_in_trec_evals_order_whatever_its_rank_column_says(two_topics: Session) -> None:
    # Equal scores: the greater docno comes first.
    text = b"1 Q0 a 1 5 r\n1 Q0 c 2 5 r\n1 Q0 b 3 9 r\n"
    checked = check(two_topics, InputFile("r.run", text))
    runs.store_runs(two_topics, SLUG, checked, uploaded_by_id=None, uploaded_at=NOW)
    stored = two_topics.scalars(select(RankedList)).one()
    ids = decode_documents(stored.documents).tolist()
    names = docnos_of(two_topics, ids)
    assert [names[id_] for id_ in ids] == ["b", "c", "a"]
    assert decode_scores(stored.scores).tolist() == [9, 5, 5]


@pytest.mark.parametrize("packed", [False, True])
def test_a_run_is_given_back_byte_for_byte(two_topics: Session, *, packed: bool) -> None:
    text = b"# comment\r\n" + run_text("r", {"1": ["a", "b"]})
    content = gzip.compress(text) if packed else text
    checked = check(two_topics, InputFile("folder/r.run", content))
    assert runs.store_runs(two_topics, SLUG, checked, uploaded_by_id=None, uploaded_at=NOW) == ["r"]
    assert runs.original_file(two_topics, SLUG, "r") == InputFile("r.run", content)


def test_every_problem_of_every_file_is_told_and_nothing_stored(two_topics: Session) -> None:
    first = InputFile("one.run", b"1 Q0 a 1 5 r\n1 Q0 b 2 many r\n3 Q0 c 1 5 r\n")
    second = InputFile("two.run", b"1 Q0 a 1 5\n")
    problems = problems_of(two_topics, first, second)
    assert [problem.partition(": ")[0] for problem in problems] == ["one.run:2", "one.run:3", "two.run:1"]
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
    checked = check(
        two_topics, InputFile("a.run", run_text("a", {"1": ["x"]})), InputFile("b.run", run_text("b", {"1": ["x"]}))
    )
    run(two_topics, "b", {"1": ["y"]})
    with pytest.raises(FileRefusedError, match="Problems found: 1"):
        runs.store_runs(two_topics, SLUG, checked, uploaded_by_id=None, uploaded_at=NOW)
    assert two_topics.scalars(select(Run.tag)).all() == ["b"]


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


def test_a_description_that_no_database_can_hold_is_refused(two_topics: Session) -> None:
    checked = check(two_topics, InputFile("r.run", run_text("r", {"1": ["a"]})))
    for description in ("NUL\0", "half \ud800", "x" * 1001):
        with pytest.raises(InvalidValueError):
            runs.store_runs(two_topics, SLUG, checked, description=description, uploaded_by_id=None, uploaded_at=NOW)
