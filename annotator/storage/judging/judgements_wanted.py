"""How often each item of a pool is to be judged: by as many as all are, by a second judge, by everyone, or not at all.

Lots decide, which items got from the pool's seed when they joined it. The first of a topic's items in the order of
their lots are for everyone; the next ones, a share of all, are overlap and want one judgement more than others. What
was drawn keeps its mark when a pool grows or a share shrinks. Of documents with the same text one alone is judged.
"""

from collections.abc import Iterable, Sequence

from sqlalchemy import Subquery, and_, case, func, or_, select, update
from sqlalchemy.orm import Session

from annotator.storage.judging.duplicates import forget_loaded, settle_duplicates
from annotator.storage.judging.judging import give_back
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.collections import Collection, JudgingMode
from annotator.storage.tables.judging import Assignment, AssignmentState, Purpose
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic


def base_wanted(collection: Collection) -> int:
    """The judgements that every item wants; where topics are owned it is their owner's one."""
    return 1 if collection.judging_mode == JudgingMode.OWNED else collection.judgements_wanted


def mean_wanted(collection: Collection) -> float:
    """The judgements that an item wants on average, the share of the overlap included."""
    extra = collection.overlap_share / 100
    return base_wanted(collection) + extra if extra else base_wanted(collection)


def settle_needs(session: Session, collection_id: int, topic_ids: Iterable[int]) -> None:
    """Bring topics' items into line with their collection's settings and the texts there are; twice is as once.

    On PostgreSQL judging goes on beside it: what somebody draws at this very moment stays as it is.
    """
    collection = session.get_one(Collection, collection_id)
    session.flush()
    topic_ids = list(topic_ids)
    # First of all topics: those who judge lock topics before items.
    for some in chunks(topic_ids):
        settle_duplicates(session, some)
    for some in chunks(topic_ids):
        if _may_differ(session, collection, some):
            _settle_marks(session, collection, some)


def settle_documents(session: Session, collection_id: int, document_ids: Sequence[int]) -> None:
    """The same for the topics in which these documents are pooled, whose texts came or changed."""
    topics = {
        topic_id
        for some in chunks(list(document_ids))
        for topic_id in session.scalars(select(PoolItem.topic_id).where(PoolItem.document_id.in_(some)).distinct())
    }
    settle_needs(session, collection_id, sorted(topics))


def _may_differ(session: Session, collection: Collection, topic_ids: Sequence[int]) -> bool:
    """Whether there is anything to settle, which a look at the items tells where none is to be marked."""
    if collection.overlap_share or collection.common_items:
        return True
    unlike_others = or_(
        PoolItem.is_overlap,
        and_(PoolItem.for_everyone, PoolItem.known_grade.is_(None)),
        PoolItem.judgements_wanted != base_wanted(collection),
    )
    in_topics = PoolItem.topic_id.in_(topic_ids) & PoolItem.duplicate_of_id.is_(None)
    return session.scalar(select(PoolItem.id).where(in_topics, unlike_others).limit(1)) is not None


def _settle_marks(session: Session, collection: Collection, topic_ids: Sequence[int]) -> None:
    marked = _marked(collection, topic_ids)
    names = ("is_overlap", "for_everyone", "judgements_wanted")
    differs = or_(*(PoolItem.__table__.c[name] != marked.c[name] for name in names))
    differing = select(PoolItem.id).join(marked, marked.c.id == PoolItem.id).where(differs).order_by(PoolItem.id)
    # In one order for everybody, so that two who change the same items wait for each other and not both for ever.
    if not session.scalars(differing.with_for_update(of=PoolItem)).all():
        return
    session.execute(
        update(PoolItem)
        # Somebody may have taken it since the marks were given out.
        .where(PoolItem.id == marked.c.id, PoolItem.taken == marked.c.taken, differs)
        .values({name: marked.c[name] for name in names})
        .execution_options(synchronize_session=False)
    )
    forget_loaded(session)


def _marked(collection: Collection, topic_ids: Sequence[int]) -> Subquery:
    """What each item should be; test questions have no part in the lots, and duplicates want nobody."""
    item = _placed(collection, topic_ids).c
    share = (item.of_topic * collection.overlap_share + 50) // 100
    is_overlap = and_(~item.is_test, or_(item.keeps_overlap, and_(~item.is_common, item.place <= share)))
    base = base_wanted(collection)
    return select(
        *(item.id, item.taken),
        item.is_common.label("for_everyone"),
        is_overlap.label("is_overlap"),
        case((is_overlap, base + 1), else_=base).label("judgements_wanted"),
    ).subquery()


def _placed(collection: Collection, topic_ids: Sequence[int]) -> Subquery:
    """Of each item whether it is for everyone, and its place among those of its topic that are, or are not."""
    item = _placed_for_everyone(topic_ids).c
    is_common = case(
        (item.is_test, item.for_everyone), else_=or_(item.keeps_common, item.place <= collection.common_items)
    )
    place = func.row_number().over(
        partition_by=(item.topic_id, item.is_test, is_common),
        order_by=(case((item.keeps_overlap, 0), else_=1), item.lot, item.id),
    )
    return select(
        *(item.id, item.taken, item.is_test, item.keeps_overlap, item.of_topic),
        is_common.label("is_common"),
        place.label("place"),
    ).subquery()


def _placed_for_everyone(topic_ids: Sequence[int]) -> Subquery:
    """The items of each topic, what keeps its mark first and then by lot, and how many there are."""
    is_test = PoolItem.known_grade.is_not(None)
    keeps_common = and_(PoolItem.for_everyone, PoolItem.taken > 0)
    alike = (PoolItem.topic_id, is_test)
    place = func.row_number().over(
        partition_by=alike, order_by=(case((keeps_common, 0), else_=1), PoolItem.lot, PoolItem.id)
    )
    return (
        select(
            *(PoolItem.id, PoolItem.topic_id, PoolItem.lot, PoolItem.taken, PoolItem.for_everyone),
            is_test.label("is_test"),
            keeps_common.label("keeps_common"),
            and_(PoolItem.is_overlap, PoolItem.taken > 0).label("keeps_overlap"),
            func.count().over(partition_by=alike).label("of_topic"),
            place.label("place"),
        )
        .where(PoolItem.topic_id.in_(topic_ids), PoolItem.duplicate_of_id.is_(None))
        .subquery()
    )


def give_back_surplus(session: Session, collection: Collection) -> int:
    """Return to the queue what is too much by the collection's settings, and count it; call it before `settle_needs`.

    (Whoever gives something back locks assignments first, and then their items.) A judgement that still comes is stored
    as late. Items for everyone may be in any number of hands, and what a judge sees once more counts for none.
    """
    base = base_wanted(collection)
    need = case((PoolItem.duplicate_of_id.is_not(None), 0), (PoolItem.is_overlap, base + 1), else_=base)
    # What was drawn last goes back first.
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
