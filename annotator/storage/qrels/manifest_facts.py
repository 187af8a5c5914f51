"""Facts for the manifest of qrels: pool versions, distribution of the judging, notes, dropped topics and machines."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, ColumnExpressionArgument, func, select
from sqlalchemy.orm import Session

from annotator.storage.judging.eligibility import FOR_EVERYONE, IS_OVERLAP
from annotator.storage.judging.judge_desk import topic_notes
from annotator.storage.pools.pools import all_pools
from annotator.storage.site.bulk_insert import fetch_rows
from annotator.storage.tables.collections import Collection
from annotator.storage.tables.people import User, UserKind
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, DROPPED, Topic

# Pool parameters with personal data: the judge of imported labels, names of files or click logs, search queries. The
# checksum identifies a file.
PERSONAL_PARAMETERS = ("judge", "file", "queries")


def public_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a pool without those that may name a person."""
    return {name: value for name, value in parameters.items() if name not in PERSONAL_PARAMETERS}


def pool_facts(session: Session, collection_id: int, at: datetime | None = None) -> list[dict[str, object]]:
    """All pool versions, or those built by `at`: strategy, parameters, seed and order of showing."""
    return [
        {
            "version": pool.version,
            "strategy": pool.strategy,
            "parameters": public_parameters(pool.parameters),
            "seed": pool.seed,
            "showing": pool.showing,
        }
        for pool in all_pools(session, collection_id)
        if at is None or pool.built_at <= at
    ]


def judging_facts(session: Session, collection: Collection) -> dict[str, object]:
    """Settings of the judging, and counts of items in accepted topics that were multiply judged or not judged.

    Which items these are follows from the seeds of the pool versions.
    """
    accepted = set(session.scalars(select(Topic.id).where(Topic.collection_id == collection.id, ACCEPTED)))

    def count(*conditions: ColumnExpressionArgument[bool]) -> int:
        # Read a partial index once: by topic, a million items take five times as long.
        return sum(topic in accepted for (topic,) in fetch_rows(session, select(PoolItem.topic_id).where(*conditions)))

    tests = count(FOR_EVERYONE, PoolItem.known_grade.is_not(None))
    for_everyone = count(FOR_EVERYONE) - tests
    identical = count(PoolItem.duplicate_of_id.is_not(None))
    by_topic = session.execute(select(PoolItem.topic_id, func.count()).where(IS_OVERLAP).group_by(PoolItem.topic_id))
    overlap = sum(items for topic, items in by_topic if topic in accepted)
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
        "adjudicators_see_grades": collection.shows_grades,
    }


def dropped_facts(session: Session, collection_id: int) -> list[dict[str, str]]:
    """Number and reason of the dropped topics, unordered."""
    dropped = session.scalars(select(Topic).where(Topic.collection_id == collection_id, DROPPED))
    return [{"number": topic.number, "reason": topic.reason} for topic in dropped]


def note_facts(session: Session, collection_id: int, of_judge: ColumnElement[bool]) -> list[dict[str, str]]:
    """Judges' notes on relevance for accepted topics, unordered."""
    return [
        {"topic": note.topic, "judge": note.judge, "text": note.text, "changed_at": note.changed_at.isoformat()}
        for note in topic_notes(session, collection_id, ACCEPTED, of_judge)
    ]


def machine_facts(session: Session, names: set[str]) -> list[dict[str, object]]:
    """The machines among these judges: model, SHA-256 of the prompt, and date of labelling."""
    machines = session.scalars(select(User).where(User.kind == UserKind.MACHINE).order_by(User.name))
    return [
        {
            "name": user.name,
            "model": user.model,
            "prompt_sha256": hashlib.sha256(user.prompt.encode()).hexdigest() if user.prompt else None,
            "labelled_on": user.labelled_on.isoformat() if user.labelled_on else None,
        }
        for user in machines
        if user.name in names
    ]
