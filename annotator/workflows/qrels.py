"""Qrels out: the settled grades, their manifest, and the comparison with the database before they are handed out."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import version

from sqlalchemy import func, select, true
from sqlalchemy.orm import Session

from annotator.errors import AnnotatorError, Problems
from annotator.evaluation.consensus import settle, settle_each
from annotator.evaluation.natural_order import natural_order
from annotator.evaluation.qrels_format import format_qrels, parse_qrels
from annotator.storage import ACCEPTED, DROPPED, Collection, Judgement, PoolItem, Topic, User
from annotator.storage.accounts import find_user
from annotator.storage.collection import find_collection, scale_of, topic_ids
from annotator.storage.documents import docnos_of
from annotator.storage.grades import GradeRow, current_grades, named_grades
from annotator.storage.judge_desk import topic_notes
from annotator.storage.pools import all_pools


@dataclass(frozen=True)
class QrelsExport:
    """TREC qrels and the JSON manifest that says what they are."""

    qrels: bytes
    manifest: str


class ExportMismatchError(AnnotatorError):
    """What was written does not say what the database says; it is not handed out."""


def export_qrels(
    session: Session, slug: str, *, policy: str | None = None, judge: str | None = None, made_at: datetime
) -> QrelsExport:
    """Settle what is judged into TREC qrels, by the collection's consensus policy, another, or one judge's word.

    Only accepted topics are in it; the manifest names those that were dropped.

    The bytes depend on the judgements alone. They are read back and compared with a fresh reading of the database by
    topic number and docno; a difference raises `ExportMismatchError`. Unjudged pairs and those that could not be
    judged have no line. Raises `NotFoundError` for an unknown judge and `InvalidValueError` for an unknown policy.
    """
    collection = find_collection(session, slug)
    policy = policy or collection.consensus_policy
    if judge is not None:
        find_user(session, judge)
    rows = current_grades(session, collection.id, judge)
    lines = _named(session, collection.id, rows, settle_each(policy, _grades(rows)))
    qrels = format_qrels(lines)
    _compare_with_database(session, collection.id, policy, judge, qrels)
    counts = _counts(session, collection.id, judge, rows, lines)
    manifest = _manifest(session, collection, policy, judge, counts, qrels, made_at)
    return QrelsExport(qrels, json.dumps(manifest, ensure_ascii=False, indent=2) + "\n")


def grading_judges(session: Session, slug: str) -> list[str]:
    """The names of those who have graded something of an accepted topic, in their order."""
    return list(
        session.scalars(
            select(User.name)
            .join(Judgement, Judgement.judge_id == User.id)
            .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
            .join(Topic, Topic.id == PoolItem.topic_id)
            .where(
                Topic.collection_id == find_collection(session, slug).id,
                ACCEPTED,
                Judgement.current,
                Judgement.grade.is_not(None),
            )
            .distinct()
            .order_by(User.name)
        )
    )


def _grades(rows: list[GradeRow]) -> list[tuple[int, int]]:
    return [(row.pool_item_id, row.grade) for row in rows]


def _named(
    session: Session, collection_id: int, rows: list[GradeRow], settled: Mapping[int, int]
) -> list[tuple[str, str, int]]:
    """Topic number, docno and settled grade of every judged pool item."""
    pairs = {row.pool_item_id: (row.topic_id, row.document_id) for row in rows}
    numbers = {id_: number for number, id_ in topic_ids(session, collection_id).items()}
    docnos = docnos_of(session, {document_id for _, document_id in pairs.values()})
    return [(numbers[pairs[item][0]], docnos[pairs[item][1]], grade) for item, grade in settled.items()]


def _compare_with_database(session: Session, collection_id: int, policy: str, judge: str | None, qrels: bytes) -> None:
    """Read the file back and settle every pair anew, one by one, from a query that shares nothing with the writing."""
    problems = Problems()
    parsed = parse_qrels("qrels", qrels, problems) if qrels else None
    written = {(row.topic, row.docno): row.grade for row in (parsed.rows if parsed else ())}
    given: dict[tuple[str, str], list[int]] = {}
    for topic, docno, grade in named_grades(session, collection_id, judge):
        given.setdefault((topic, docno), []).append(grade)
    expected = {pair: settle(policy, grades) for pair, grades in given.items()}
    if problems.total or written != expected:
        differing = len(dict(written.items() ^ expected.items())) + problems.total
        raise ExportMismatchError(
            "The qrels as written differ from the database in %(count)d pairs; nothing is handed out.", count=differing
        )


def _manifest(
    session: Session,
    collection: Collection,
    policy: str,
    judge: str | None,
    counts: "_Counts",
    qrels: bytes,
    made_at: datetime,
) -> dict[str, object]:
    scale = scale_of(session, collection.id)
    return {
        "collection": collection.slug,
        "title": collection.title,
        "made_at": made_at.isoformat(),
        "annotator": version("annotator"),
        "pool_versions": [
            {
                "version": pool.version,
                "strategy": pool.strategy,
                "parameters": pool.parameters,
                "seed": pool.seed,
                "showing": pool.showing,
            }
            for pool in all_pools(session, collection.id)
        ],
        "scale": [{"value": grade.value, "name": grade.name, "description": grade.description} for grade in scale],
        "relevant_from": collection.relevant_from,
        "consensus_policy": None if judge else policy,
        "judge": judge,
        "dropped_topics": _dropped_topics(session, collection.id),
        "topic_notes": _topic_notes(session, collection.id, judge),
        "judging": _judging(session, collection),
        "counts": asdict(counts),
        "sha256": hashlib.sha256(qrels).hexdigest(),
    }


def _judging(session: Session, collection: Collection) -> dict[str, object]:
    """How the work was shared out, and how many documents of accepted topics were judged more often or not at all.

    Which documents these are follows from the seeds of the pool's versions.
    """
    overlap, for_everyone, tests, identical = session.execute(
        select(
            func.count().filter(PoolItem.is_overlap),
            func.count().filter(PoolItem.for_everyone, PoolItem.known_grade.is_(None)),
            func.count().filter(PoolItem.known_grade.is_not(None)),
            func.count().filter(PoolItem.duplicate_of_id.is_not(None)),
        )
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection.id, ACCEPTED)
    ).one()
    return {
        "mode": collection.judging_mode,
        "judgements_wanted": collection.judgements_wanted,
        "overlap_share": collection.overlap_share,
        "reshow_share": collection.reshow_share,
        "common_items": collection.common_items,
        "seeds": sorted({pool.seed for pool in all_pools(session, collection.id)}),
        "overlap": overlap,
        "for_everyone": for_everyone,
        "test_questions": tests,
        "identical": identical,
    }


def _dropped_topics(session: Session, collection_id: int) -> list[dict[str, str]]:
    dropped = session.scalars(select(Topic).where(Topic.collection_id == collection_id, DROPPED))
    return [
        {"number": topic.number, "reason": topic.reason}
        for topic in sorted(dropped, key=lambda topic: natural_order(topic.number))
    ]


def _topic_notes(session: Session, collection_id: int, judge: str | None) -> list[dict[str, str]]:
    """What the judges, or the one whose grades these are, decided counts as relevant."""
    of_judge = User.name == judge if judge is not None else true()
    notes = topic_notes(session, collection_id, ACCEPTED, of_judge)
    return [
        {"topic": note.topic, "judge": note.judge, "text": note.text, "changed_at": note.changed_at.isoformat()}
        for note in sorted(notes, key=lambda note: (natural_order(note.topic), note.judge))
    ]


@dataclass(frozen=True)
class _Counts:
    pool_items: int
    qrels_lines: int
    lines_by_grade: dict[int, int]
    topics: int
    judges: int
    judgements: int
    unjudged: int
    could_not_be_judged: int


def _counts(
    session: Session, collection_id: int, judge: str | None, rows: list[GradeRow], lines: list[tuple[str, str, int]]
) -> _Counts:
    """Count what the qrels are made of: the pool and the judgements of accepted topics."""
    of_topics = select(Topic.id).where(Topic.collection_id == collection_id, ACCEPTED)
    items = select(PoolItem.id).where(PoolItem.topic_id.in_(of_topics))
    in_pool = session.scalars(select(func.count()).select_from(items.subquery())).one()
    could_not = (
        select(Judgement.pool_item_id)
        .join(User, User.id == Judgement.judge_id)
        .where(Judgement.pool_item_id.in_(items), Judgement.current, Judgement.cannot_judge.is_not(None))
    )
    if judge is not None:
        could_not = could_not.where(User.name == judge)
    refused = set(session.scalars(could_not)) - {row.pool_item_id for row in rows}
    return _Counts(
        pool_items=in_pool,
        qrels_lines=len(lines),
        lines_by_grade=dict(sorted(Counter(grade for _, _, grade in lines).items())),
        topics=len({topic for topic, *_ in lines}),
        judges=len({row.judge for row in rows}),
        judgements=len(rows),
        unjudged=in_pool - len(lines) - len(refused),
        could_not_be_judged=len(refused),
    )
