"""How many judgements each pool item wants: the base number, one more as overlap, from everyone, or none.

Random lots, drawn from the pool's seed, decide. The first items of a topic by lot are for everyone; the next, a share
of all, are overlap and want one more judgement. Drawn items keep their mark when a pool grows or a share shrinks. Of
documents with the same text only one is judged.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Subquery, and_, case, func, or_, select, update
from sqlalchemy.orm import Session

from annotator.storage.judging.duplicates import forget_loaded, settle_duplicates
from annotator.storage.judging.leases import give_back
from annotator.storage.judging.machine_labels import judge_pooled
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.site.database import has_one_writer
from annotator.storage.tables.collections import Collection, JudgingMode
from annotator.storage.tables.judging import Assignment, AssignmentState, Purpose
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic
from annotator.storage.topics.revisions import raise_topics

# Columns of an item that its settings and texts decide.
MARKS = ("is_overlap", "for_everyone", "judgements_wanted")


def base_wanted(collection: Collection) -> int:
    """Judgements that every item wants: one, the owner's, in owned mode."""
    return 1 if collection.judging_mode == JudgingMode.OWNED else collection.judgements_wanted


def mean_wanted(collection: Collection) -> float:
    """Mean number of judgements wanted per item, with the share of overlap."""
    extra = collection.overlap_share / 100
    return base_wanted(collection) + extra if extra else base_wanted(collection)


def settle_needs(session: Session, collection_id: int, topic_ids: Iterable[int]) -> None:
    """Update marks and wanted judgements of topics' items from the collection's settings and texts; idempotent.

    On PostgreSQL judging continues in parallel: an item drawn at the same time keeps its marks.
    """
    collection = session.get_one(Collection, collection_id)
    session.flush()
    topic_ids = list(topic_ids)
    # Before duplicates are found, which keep labels of their own.
    judge_pooled(session, collection_id, topic_ids)
    # Duplicates of all topics first: judging locks topics before items.
    for some in chunks(topic_ids):
        settle_duplicates(session, some)
    for some in chunks(topic_ids):
        if may_differ(session, collection, some):
            settle_marks(session, collection, some)
    # Progress depends on the items, too.
    raise_topics(session, topic_ids)


def settle_documents(session: Session, collection_id: int, document_ids: Sequence[int]) -> None:
    """`settle_needs` for the topics in which these documents, whose texts are new or changed, are pooled."""
    settle_needs(session, collection_id, sorted(topics_with(session, document_ids)))


def topics_with(session: Session, document_ids: Sequence[int]) -> set[int]:
    """Ids of the topics in which any of these documents is pooled."""
    return {
        topic_id
        for some in chunks(list(document_ids))
        for topic_id in session.scalars(select(PoolItem.topic_id).where(PoolItem.document_id.in_(some)).distinct())
    }


class JudgingWanted(NamedTuple):
    """How many judgements the items of accepted topics want, and how many items are for everyone."""

    judgements: int
    for_everyone: int


def foresee_wanted(session: Session, settings: Collection) -> JudgingWanted:
    """What `settle_needs` would make of the items under other settings of their collection; changes nothing.

    `settings` has its id, and need not be a row. Leases that the settings would end count as they are.
    """
    topics = session.scalars(select(Topic.id).where(Topic.collection_id == settings.id, ACCEPTED)).all()
    judgements = for_everyone = 0
    for some in chunks(list(topics)):
        marked = marked_items(settings, some).c
        sums = select(
            func.coalesce(func.sum(marked.judgements_wanted), 0),
            func.count().filter(marked.for_everyone, marked.known_grade.is_(None)),
        )
        wanted, common = session.execute(sums).one()
        judgements, for_everyone = judgements + int(wanted), for_everyone + common
    return JudgingWanted(judgements, for_everyone)


def may_differ(session: Session, collection: Collection, topic_ids: Sequence[int]) -> bool:
    """Whether any mark can differ: always with overlap or common items, otherwise one query of the items decides."""
    if collection.overlap_share or collection.common_items:
        return True
    unlike_others = or_(
        PoolItem.is_overlap,
        and_(PoolItem.for_everyone, PoolItem.known_grade.is_(None)),
        PoolItem.judgements_wanted != base_wanted(collection),
    )
    in_topics = PoolItem.topic_id.in_(topic_ids) & PoolItem.duplicate_of_id.is_(None)
    return session.scalar(select(PoolItem.id).where(in_topics, unlike_others).limit(1)) is not None


def settle_marks(session: Session, collection: Collection, topic_ids: Sequence[int]) -> None:
    """Update the marks of these topics' items from the collection's settings."""
    marked = marked_items(collection, topic_ids)
    differs = or_(*(PoolItem.__table__.c[name] != marked.c[name] for name in MARKS))
    differing = select(PoolItem.id).join(marked, marked.c.id == PoolItem.id).where(differs).order_by(PoolItem.id)
    # Locked in one order, so that concurrent updates of the same items do not deadlock.
    if not has_one_writer(session) and not session.scalars(differing.with_for_update(of=PoolItem)).all():
        return
    session.execute(
        update(PoolItem)
        # Skip items that were drawn since the marks were computed.
        .where(PoolItem.id == marked.c.id, PoolItem.taken == marked.c.taken, differs)
        .values({name: marked.c[name] for name in MARKS})
        .execution_options(synchronize_session=False)
    )
    forget_loaded(session)


def marked_items(collection: Collection, topic_ids: Sequence[int], taken: ColumnElement[int] | None = None) -> Subquery:
    """The marks that each item should have; gold questions are outside the lots, and duplicates are left out.

    `taken` is what will be taken of an item, if that is not what is.
    """
    item = _placed(collection, topic_ids, PoolItem.__table__.c.taken if taken is None else taken).c
    share = (item.of_topic * collection.overlap_share + 50) // 100
    is_overlap = and_(~item.is_test, or_(item.keeps_overlap, and_(~item.is_common, item.place <= share)))
    base = base_wanted(collection)
    return select(
        *(item.id, item.taken, item.known_grade),
        item.is_common.label("for_everyone"),
        is_overlap.label("is_overlap"),
        case((is_overlap, base + 1), else_=base).label("judgements_wanted"),
    ).subquery()


def _placed(collection: Collection, topic_ids: Sequence[int], taken: ColumnElement[int]) -> Subquery:
    """Whether each item is for everyone, and its position by lot among such items or the others of its topic."""
    item = _placed_for_everyone(topic_ids, taken).c
    is_common = case(
        (item.is_test, item.for_everyone), else_=or_(item.keeps_common, item.place <= collection.common_items)
    )
    place = func.row_number().over(
        partition_by=(item.topic_id, item.is_test, is_common),
        order_by=(case((item.keeps_overlap, 0), else_=1), item.lot, item.id),
    )
    return select(
        *(item.id, item.taken, item.known_grade, item.is_test, item.keeps_overlap, item.of_topic),
        is_common.label("is_common"),
        place.label("place"),
    ).subquery()


def _placed_for_everyone(topic_ids: Sequence[int], taken: ColumnElement[int]) -> Subquery:
    """The items of each topic with their position (marked ones first, then by lot) and their number."""
    is_test = PoolItem.known_grade.is_not(None)
    keeps_common = and_(PoolItem.for_everyone, taken > 0)
    alike = (PoolItem.topic_id, is_test)
    place = func.row_number().over(
        partition_by=alike, order_by=(case((keeps_common, 0), else_=1), PoolItem.lot, PoolItem.id)
    )
    return (
        select(
            *(PoolItem.id, PoolItem.topic_id, PoolItem.lot, taken.label("taken"), PoolItem.for_everyone),
            PoolItem.known_grade,
            is_test.label("is_test"),
            keeps_common.label("keeps_common"),
            and_(PoolItem.is_overlap, taken > 0).label("keeps_overlap"),
            func.count().over(partition_by=alike).label("of_topic"),
            place.label("place"),
        )
        .where(PoolItem.topic_id.in_(topic_ids), PoolItem.duplicate_of_id.is_(None))
        .subquery()
    )


def give_back_surplus(session: Session, collection: Collection) -> int:
    """Return assignments beyond what the settings want, and count them; call it before `settle_needs`.

    (Returning locks assignments before items.) A judgement of a returned assignment is stored as late. Items for
    everyone may have any number of holders, and second showings are not counted.
    """
    base = base_wanted(collection)
    need = case((PoolItem.duplicate_of_id.is_not(None), 0), (PoolItem.is_overlap, base + 1), else_=base)
    # The latest assignments are returned first.
    place = func.row_number().over(partition_by=Assignment.pool_item_id, order_by=Assignment.id.desc())
    drawn = (
        select(Assignment.id, place.label("place"), (PoolItem.taken - need).label("too_many"))
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(
            Topic.collection_id == collection.id,
            PoolItem.taken > need,
            ~PoolItem.for_everyone,
            Assignment.state.in_((AssignmentState.LIVE, AssignmentState.LATER)),
            Assignment.purpose.in_((Purpose.FIRST, Purpose.OVERLAP)),
        )
        .subquery()
    )
    return give_back(session, Assignment.id.in_(select(drawn.c.id).where(drawn.c.place <= drawn.c.too_many)))
