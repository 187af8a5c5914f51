"""A finished task comes in whole, and its leaderboard is there."""

import gzip
import io
import zipfile

import pytest
from build import LIMIT, NOW, SLUG, news
from sqlalchemy import func, select

from annotator.errors import FileRefusedError, InvalidValueError
from annotator.files import InputFile
from annotator.storage import Database, Judgement, Run, Topic
from annotator.storage.collections.audit import Actor
from annotator.storage.tables.collections import Door
from annotator.workflows.collections.collection import show_collection
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.leaderboard.task_import import ImportedTask, import_task
from annotator.workflows.topics.topics import list_topics

ALPHA = b"1 Q0 a 1 2.0 alpha\n1 Q0 b 2 1.0 alpha\n2 Q0 c 1 1.0 alpha\n"
BETA = b"1 Q0 b 1 2.0 beta\n2 Q0 d 1 1.0 beta\n"
QRELS = b"1 0 a 3\n1 0 b 0\n2 0 c 1\n2 0 d 0\n"
TOPICS = b"number,title\n1,red shoes\n2,warm coat\n"


@pytest.fixture
def task(database: Database) -> Database:
    """An empty collection."""
    with database.transaction() as session:
        news(session)
    return database


def taken(database: Database, files: dict[str, bytes]) -> ImportedTask:
    given = [InputFile(name, content) for name, content in files.items()]
    actor = Actor(Door.PAGE, "ola")
    return import_task(database, SLUG, given, actor=actor, at=NOW, unpacked_limit=LIMIT)


def zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"task/{name}", content)
    return stream.getvalue()


def counts(database: Database) -> tuple[int, ...]:
    with database.reading() as session:
        return tuple(
            session.scalars(select(func.count()).select_from(table)).one() for table in (Topic, Run, Judgement)
        )


@pytest.mark.parametrize("is_zipped", [False, True])
def test_topics_runs_and_qrels_are_told_apart_by_their_content(task: Database, is_zipped: bool) -> None:  # noqa: FBT001
    files = {"b": gzip.compress(BETA), "q": QRELS, "t": TOPICS, "a": ALPHA}
    assert taken(task, {"all.zip": zipped(files)} if is_zipped else files) == ImportedTask(2, 2, 4)
    with task.reading() as session:
        board = build_leaderboard(session, SLUG, ["nDCG@10"])
        assert [(row.tag, row.values[0]) for row in board.rows] == [("alpha", 1.0), ("beta", 0.0)]
        assert [topic.title for topic in list_topics(session, SLUG)] == ["red shoes", "warm coat"]
        assert [grade.value for grade in show_collection(session, SLUG).scale] == [0, 1, 2, 3]


def test_without_a_file_of_topics_they_have_the_numbers_of_the_others(task: Database) -> None:
    further = ALPHA + b"10 Q0 c 1 1.0 alpha\n"
    assert taken(task, {"q": QRELS, "a": further}) == ImportedTask(3, 1, 4)
    with task.reading() as session:
        assert [topic.number for topic in list_topics(session, SLUG)] == ["1", "2", "10"]


def test_result_lists_are_runs_whose_queries_are_found_by_their_words(task: Database) -> None:
    results = b"query,doc\nRed shoes,a\nwarm coat,d\n"
    assert taken(task, {"mine.csv": results, "t.csv": TOPICS, "q": QRELS}) == ImportedTask(2, 1, 4)
    with task.reading() as session:
        [row] = build_leaderboard(session, SLUG, ["P@1"]).rows
    assert (row.tag, row.values[0]) == ("mine", 0.5)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"x": b"hello world\n"}, "neither topics nor qrels"),
        ({"a": ALPHA + b"7 Q0 a 1 1.0 alpha\n"}, "7"),
        ({"a": ALPHA + b"1 Q0 a 3 0.5 alpha\n"}, "a"),
        ({"q": QRELS + b"1 0 e much\n"}, "grade"),
        ({"z.zip": b"PK\x03\x04 and no more"}, "zip"),
    ],
)
def test_a_refused_file_is_named_and_nothing_is_stored(
    task: Database, changed: dict[str, bytes], sentence: str
) -> None:
    files = {"t": TOPICS, "a": ALPHA, "q": QRELS, **changed}
    with pytest.raises(FileRefusedError) as refused:
        taken(task, files)
    [problem] = refused.value.problems
    assert problem.file == next(iter(changed))
    assert sentence in str(problem)
    assert counts(task) == (0, 0, 0)


def test_topics_alone_are_no_finished_task(task: Database) -> None:
    with pytest.raises(InvalidValueError, match="only topics"):
        taken(task, {"t": TOPICS})
