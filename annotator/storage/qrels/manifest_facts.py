"""What the manifest of qrels says of a collection: its pool, how the work was shared out, its notes and machines."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from annotator.storage.judging.judge_desk import topic_notes
from annotator.storage.pools.pools import all_pools
from annotator.storage.tables.collections import Collection
from annotator.storage.tables.judging import Judgement
from annotator.storage.tables.people import User, UserKind
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, DROPPED, Topic

# Of a pool's parameters what people wrote, and their names: the judge of imported labels, the name of a file or a click
# log, the words of a search. The checksum tells which file it was.
PERSONAL_PARAMETERS = ("judge", "file", "queries")


def public_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """How a pool was chosen, without what names a person."""
    return {name: value for name, value in parameters.items() if name not in PERSONAL_PARAMETERS}


def pool_facts(session: Session, collection_id: int, at: datetime | None = None) -> list[dict[str, object]]:
    """Every version of the pool, or those there were at a moment: how it was chosen, and in which order shown."""
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
        "adjudicators_see_grades": collection.shows_grades,
    }


def dropped_facts(session: Session, collection_id: int) -> list[dict[str, str]]:
    """The dropped topics and why, in no order."""
    dropped = session.scalars(select(Topic).where(Topic.collection_id == collection_id, DROPPED))
    return [{"number": topic.number, "reason": topic.reason} for topic in dropped]


def note_facts(session: Session, collection_id: int, of_judge: ColumnElement[bool]) -> list[dict[str, str]]:
    """What judges decided counts as relevant of accepted topics, in no order."""
    return [
        {"topic": note.topic, "judge": note.judge, "text": note.text, "changed_at": note.changed_at.isoformat()}
        for note in topic_notes(session, collection_id, ACCEPTED, of_judge)
    ]


def machine_facts(session: Session, names: set[str]) -> list[dict[str, object]]:
    """Those of the judges that are machines: the model, the prompt by its checksum, and when they labelled."""
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


def judge_names(session: Session, collection_id: int) -> list[str]:
    """The names of those who have graded something of an accepted topic, in their order."""
    return list(
        session.scalars(
            select(User.name)
            .join(Judgement, Judgement.judge_id == User.id)
            .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
            .join(Topic, Topic.id == PoolItem.topic_id)
            .where(
                Topic.collection_id == collection_id,
                ACCEPTED,
                Judgement.current,
                Judgement.grade.is_not(None),
            )
            .distinct()
            .order_by(User.name)
        )
    )
