"""A collection as a folder of BEIR: what it has, and what it cannot be made from."""

import io
import json
from zipfile import ZipFile

import pytest
from build import NOW, SLUG, document_file, labels, news, pool, run, topic_file
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.workflows.qrels.beir_export import BeirCounts, write_beir
from annotator.workflows.topics.topic_editing import drop_topics


def pooled(session: Session, *, documents: tuple[str, ...] = ("a", "b")) -> None:
    news(session)
    topic_file(session)
    document_file(session, documents)
    run(session, "alpha", {"1": ["a", "b", "x"], "2": ["a"]})
    pool(session)


def test_topics_texts_and_settled_grades_are_written(session: Session) -> None:
    pooled(session)
    labels(session, "jo", "1 0 a 1\n1 0 x 0\n")
    stream = io.BytesIO()
    assert write_beir(session, SLUG, stream, made_at=NOW) == BeirCounts(2, 2, 2, 1)
    with ZipFile(stream) as opened:
        parts = {name.removeprefix(f"{SLUG}/"): opened.read(name).decode() for name in opened.namelist()}
    queries = [json.loads(line) for line in parts["queries.jsonl"].splitlines()]
    assert [(one["_id"], one["text"]) for one in queries] == [("1", "first topic"), ("2", "second topic")]
    corpus = [json.loads(line) for line in parts["corpus.jsonl"].splitlines()]
    assert [(one["_id"], one["title"], one["text"]) for one in corpus] == [
        ("a", "Title of a", "Text of a."),
        ("b", "Title of b", "Text of b."),
    ]
    assert parts["qrels/test.tsv"].splitlines() == ["query-id\tcorpus-id\tscore", "1\ta\t1", "1\tx\t0"]


def test_a_dropped_topic_is_left_out(session: Session) -> None:
    pooled(session)
    labels(session, "jo", "1 0 a 1\n2 0 a 1\n")
    drop_topics(session, SLUG, ["2"], reason="Unclear.")
    assert write_beir(session, SLUG, io.BytesIO(), made_at=NOW) == BeirCounts(1, 2, 1, 0)


def test_a_collection_without_texts_is_refused(session: Session) -> None:
    news(session)
    topic_file(session)
    with pytest.raises(ConflictError, match="No document of the collection has a text"):
        write_beir(session, SLUG, io.BytesIO(), made_at=NOW)


def test_a_collection_without_grades_is_refused(session: Session) -> None:
    pooled(session)
    with pytest.raises(ConflictError, match="Nothing is judged yet"):
        write_beir(session, SLUG, io.BytesIO(), made_at=NOW)
