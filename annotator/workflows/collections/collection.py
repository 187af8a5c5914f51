"""Collections: create, change, close, list."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, count
from typing import Any

from sqlalchemy import Select, delete, func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotAllowedError, Sentence
from annotator.evaluation.formats.identifiers import check_free_text
from annotator.evaluation.qrels.consensus import NAMED_POLICIES, judge_of, parse_policy
from annotator.evaluation.qrels.scale import GradeMeaning, check_relevant_from, format_scale, parse_scale
from annotator.storage import (
    ACCEPTED,
    IN_FORCE,
    Collection,
    CollectionState,
    Document,
    Grade,
    GuidelineVersion,
    Judgement,
    JudgingMode,
    Membership,
    PoolItem,
    Role,
    Run,
    ScoresShown,
    Topic,
    User,
)
from annotator.storage.collections.collection import (
    collections_with_training,
    find_collection,
    find_open_collection,
    latest_guidelines,
    lock_collection,
    lock_open_collection,
    refuse_unusable_slug,
    scale_of,
    scales_of,
    topic_ids,
)
from annotator.storage.documents.documents import count_with_text
from annotator.storage.judging.foreseen_marks import ForeseenMarks, set_foreseen
from annotator.storage.judging.judgements_wanted import give_back_surplus, settle_needs
from annotator.storage.judging.topic_counts import topic_counts
from annotator.storage.people.accounts import find_user
from annotator.storage.qrels.qrels_versions import ReleasedVersion, released_version
from annotator.storage.tables.collections import DEFAULT_POLICIES, CollectionKind
from annotator.workflows.collections.queue_settings import (
    MoreJudging,
    QueueChange,
    change_queue,
    changed_queue,
    copied,
    more_judging,
)
from annotator.workflows.collections.scale_changes import refuse_lost_grades
from annotator.workflows.people.members import add_member

MOST_JUDGEMENTS_WANTED = 100
LONGEST_TITLE = 200
LONGEST_GUIDELINES = 200_000
FLAGS = (
    "judges_search",
    "judges_compare",
    "judges_highlight",
    "counts_machines",
    "shows_grades",
    "leaves_out_disputed",
)
MOST_PAY_PER_HOUR = 1_000_000
A_CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)
LONGEST_MADE_SLUG = 40
NOT_IN_A_SLUG = re.compile(r"[^a-z0-9]+")
# What a view has as it is stored.
AS_STORED = (
    *("most_documents", "tag_start", "most_tag_characters", "plain_tags", "most_runs"),
    *("corpus", "shares_docnos", "shares_qrels"),
    *("judges_search", "judges_compare", "judges_highlight", "overlap_share", "reshow_share", "common_items"),
    *("counts_machines", "shows_grades", "leaves_out_disputed", "pay_per_hour", "pay_currency"),
)


@dataclass(frozen=True)
class CollectionView:
    """A collection with its scale, for pages and lists."""

    slug: str
    title: str
    kind: CollectionKind
    closed: bool
    relevant_from: int
    judgements_wanted: int
    consensus_policy: str
    scale: tuple[GradeMeaning, ...]
    terms: str
    submissions_until: datetime | None
    submissions_until_written: str
    scores_released_at: datetime | None
    scores_shown: ScoresShown
    released_version: ReleasedVersion | None  # None: live grades
    most_documents: int
    tag_start: str  # with {team} for the team's name
    most_tag_characters: int
    plain_tags: bool
    most_runs: int  # of a team; 0: no limit
    corpus: str  # where the documents are
    shares_docnos: bool  # with participants
    shares_qrels: bool
    judges_search: bool
    judges_compare: bool
    judges_highlight: bool
    has_training: bool
    judging_mode: JudgingMode
    overlap_share: int
    reshow_share: int
    common_items: int
    counts_machines: bool
    shows_grades: bool
    leaves_out_disputed: bool
    pay_per_hour: float | None  # of judges, for organisers only
    pay_currency: str


@dataclass(frozen=True)
class CollectionCounts:
    """The numbers of topics, documents, runs, pool items and judgements of a collection."""

    topics: int
    documents: int
    documents_with_text: int
    runs: int
    pool_items: int
    judgements: int


@dataclass(frozen=True)
class CollectionSize:
    """The numbers of accepted topics, active runs and documents of a collection, which are counted from indexes."""

    topics: int
    runs: int
    documents: int


@dataclass(frozen=True)
class CollectionChange:
    """New values of settings; None leaves a setting unchanged, and a pay of 0 is no pay."""

    title: str | None = None
    kind: CollectionKind | None = None
    scale: tuple[GradeMeaning, ...] | None = None
    relevant_from: int | None = None
    judgements_wanted: int | None = None
    consensus_policy: str | None = None
    judges_search: bool | None = None
    judges_compare: bool | None = None
    judges_highlight: bool | None = None
    counts_machines: bool | None = None
    shows_grades: bool | None = None
    leaves_out_disputed: bool | None = None
    pay_per_hour: float | None = None
    pay_currency: str | None = None


def read_pay(text: str) -> dict[str, Any]:
    """Parse a pay such as `20 EUR`, or `0` for none, into fields of a `CollectionChange`; or `InvalidValueError`."""
    amount, _, currency = text.strip().partition(" ")
    try:
        return {"pay_per_hour": float(amount), "pay_currency": currency.strip().upper()}
    except ValueError:
        raise InvalidValueError("Write the pay as a number and a currency, such as 20 EUR.") from None


def read_scale(text: str) -> tuple[GradeMeaning, ...]:
    """Parse a scale such as `0=Not relevant, 1=Relevant`; raises `InvalidValueError`."""
    return parse_scale(text)


def read_kind(text: str) -> CollectionKind:
    """Parse the name of a type; raises `InvalidValueError`, naming all types."""
    try:
        return CollectionKind(text)
    except ValueError:
        choices = ", ".join(CollectionKind)
        raise InvalidValueError(
            "“%(type)s” is no type of collection; there are %(choices)s.", type=text, choices=choices
        ) from None


def write_scale(scale: Sequence[GradeMeaning]) -> str:
    """The scale as text that `read_scale` parses, one grade per line."""
    return format_scale(scale)


def consensus_policies() -> dict[str, Sentence]:
    """Every consensus policy by name, with a sentence explaining it; each judge's own policy comes on top."""
    return {name: policy.sentence for name, policy in NAMED_POLICIES.items()}


def add_collection(
    session: Session,
    slug: str | None,
    *,
    title: str,
    kind: CollectionKind = CollectionKind.SHARED_TASK,
    scale: Sequence[GradeMeaning],
    relevant_from: int,
    judgements_wanted: int = 1,
    consensus_policy: str | None = None,
    queue: QueueChange | None = None,
    organiser: str | None = None,
    added_at: datetime,
) -> str:
    """Create a collection, with the account of that name as its first organiser, and return its short name.

    Without a short name it is made from the title.

    Without a policy it gets the default of the judging mode. In a team comparison adjudicators see the grades that
    differ, and participants the whole leaderboard once scores are released. Raises `InvalidValueError` for an invalid
    slug, scale or number, `ConflictError` for a slug in use and `NotFoundError` for an organiser without an account.
    """
    slug = _free_slug(session, title) if slug is None else slug
    refuse_unusable_slug(session, slug)
    collection = Collection(slug=slug, added_at=added_at, state=CollectionState.OPEN)
    policy = consensus_policy or DEFAULT_POLICIES[JudgingMode.SHARED]
    change = CollectionChange(
        title,
        kind,
        tuple(scale),
        relevant_from,
        judgements_wanted,
        policy,
        shows_grades=kind is CollectionKind.COMPARISON,
    )
    collection.scores_shown = ScoresShown.WHOLE if kind is CollectionKind.COMPARISON else ScoresShown.BESIDE
    _check_policy(session, change)
    _apply(collection, change, present=[])
    session.add(collection)
    session.flush()
    _store_scale(session, collection.id, change.scale or ())
    if queue is not None:
        change_queue(session, slug, queue)
        # The mode may have a default; an explicit policy takes precedence.
        collection.consensus_policy = consensus_policy or collection.consensus_policy
    if organiser is not None:
        add_member(session, slug, organiser, Role.ORGANISER, added_at=added_at)
    return slug


def change_collection(
    session: Session, slug: str, change: CollectionChange, *, foreseen: ForeseenMarks | None = None
) -> None:
    """Change settings; a grade in use cannot be removed from the scale.

    The number of judgements wanted applies to all items of the pool, judged ones included; overlap items want one more,
    and items that repeat another's text none. `foreseen` has their marks, if `foresee_queue` computed them.
    """
    collection = lock_open_collection(session, slug, against_judging=True)
    present = _meanings(session, collection.id)
    _check_policy(session, change)
    if change.scale is not None:
        refuse_lost_grades(session, collection.id, change.scale)
    _apply(collection, change, present)
    if change.scale is not None:
        session.execute(delete(Grade).where(Grade.collection_id == collection.id))
        _store_scale(session, collection.id, change.scale)
    if change.judgements_wanted is not None:
        give_back_surplus(session, collection)
        if not set_foreseen(session, collection, foreseen):
            settle_needs(session, collection.id, list(topic_ids(session, collection.id).values()))


def foresee_change(session: Session, slug: str, change: CollectionChange | QueueChange) -> MoreJudging:
    """The additional judging work of a change of settings; stores and locks nothing, and raises as the change would."""
    collection = find_open_collection(session, slug)
    if isinstance(change, QueueChange):
        return more_judging(session, collection, changed_queue(collection, change), settles=False)
    _check_policy(session, change)
    if change.scale is not None:
        refuse_lost_grades(session, collection.id, change.scale)
    settings = copied(collection)
    _apply(settings, change, _meanings(session, collection.id))
    return more_judging(session, collection, settings, settles=change.judgements_wanted is not None)


def close_collection(session: Session, slug: str) -> None:
    """Refuse further imports, pools and judgements; pages and exports remain. Closing twice has no effect."""
    collection = lock_collection(session, slug, against_judging=True)
    collection.state = CollectionState.CLOSED
    # It does not begin again by itself when the collection is reopened.
    collection.registration_until = None


def reopen_collection(session: Session, slug: str) -> None:
    """Accept imports, pools and judgements again."""
    lock_collection(session, slug, against_judging=True).state = CollectionState.OPEN


def show_collection(session: Session, slug: str) -> CollectionView:
    """One collection with its scale; raises `NotFoundError`."""
    return views_of(session, [find_collection(session, slug)])[0]


def collection_size(session: Session, slug: str) -> CollectionSize:
    """Count accepted topics, active runs and documents."""
    id_ = find_collection(session, slug).id
    return CollectionSize(
        topics=session.scalars(select(func.count()).where(Topic.collection_id == id_, ACCEPTED)).one(),
        runs=session.scalars(select(func.count()).where(Run.collection_id == id_, IN_FORCE)).one(),
        documents=session.scalars(select(func.count()).where(Document.collection_id == id_)).one(),
    )


def count_collection(session: Session, slug: str) -> CollectionCounts:
    """Count accepted topics, documents, active runs, and those topics' pool items and judgements."""
    id_ = find_collection(session, slug).id
    size = collection_size(session, slug)
    items = select(PoolItem.id).join(Topic, Topic.id == PoolItem.topic_id).where(Topic.collection_id == id_, ACCEPTED)
    judged = items.join(Judgement, Judgement.pool_item_id == PoolItem.id).where(Judgement.current)
    return CollectionCounts(
        topics=size.topics,
        documents=size.documents,
        documents_with_text=count_with_text(session, id_),
        runs=size.runs,
        pool_items=sum(counts.items for counts in topic_counts(session, id_).values()),
        judgements=session.scalars(judged.with_only_columns(func.count())).one(),
    )


def _free_slug(session: Session, title: str) -> str:
    """A short name made from a title that no collection has yet; “collection” where the title has no Latin letter."""
    letters = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().casefold()
    short = NOT_IN_A_SLUG.sub("-", letters)[:LONGEST_MADE_SLUG].strip("-") or "collection"
    taken = set(session.scalars(select(Collection.slug).where(Collection.slug.startswith(short, autoescape=True))))
    further = (f"{short}-{number}" for number in count(2))
    return next(slug for slug in chain([short], further) if slug not in taken)


def _apply(collection: Collection, change: CollectionChange, present: list[GradeMeaning]) -> None:
    """Apply the changed settings to the row, after checking that they are consistent."""
    if change.title is not None:
        if not change.title.strip():
            raise InvalidValueError("A collection needs a title.")
        check_free_text(change.title, LONGEST_TITLE)
        collection.title = change.title.strip()
    if change.judgements_wanted is not None:
        most, given = MOST_JUDGEMENTS_WANTED, change.judgements_wanted
        if not 1 <= given <= most:
            raise InvalidValueError(
                "A document needs between 1 and %(most)d judgements, not %(given)d.", most=most, given=given
            )
        collection.judgements_wanted = given
    for name in ("kind", "consensus_policy", "relevant_from", *FLAGS):
        if (value := getattr(change, name)) is not None:
            setattr(collection, name, value)
    check_relevant_from(collection.relevant_from, change.scale or present)
    if change.pay_per_hour is not None:
        _apply_pay(collection, change.pay_per_hour, change.pay_currency or "")


def _apply_pay(collection: Collection, pay: float, currency: str) -> None:
    if not 0 <= pay <= MOST_PAY_PER_HOUR:  # also refuses what is not a number
        most = MOST_PAY_PER_HOUR
        raise InvalidValueError("The pay per hour is a number from 0 to %(most)d, not %(given)s.", most=most, given=pay)
    if pay and not A_CURRENCY.fullmatch(currency):
        raise InvalidValueError("A pay needs its currency as three letters, such as EUR.")
    collection.pay_per_hour = pay or None
    collection.pay_currency = currency if pay else ""


def _check_policy(session: Session, change: CollectionChange) -> None:
    """Raise `InvalidValueError` for an unknown policy, or one that uses the grades of an unknown judge."""
    if change.consensus_policy is not None:
        parse_policy(change.consensus_policy)
        judge = judge_of(change.consensus_policy)
        if judge is not None:
            find_user(session, judge)


def _store_scale(session: Session, collection_id: int, scale: Sequence[GradeMeaning]) -> None:
    session.add_all(
        Grade(collection_id=collection_id, value=one.value, name=one.name, description=one.description) for one in scale
    )


def _meanings(session: Session, collection_id: int) -> list[GradeMeaning]:
    return [_meaning(grade) for grade in scale_of(session, collection_id)]


def _meaning(grade: Grade) -> GradeMeaning:
    return GradeMeaning(grade.value, grade.name, grade.description)


def views_of(session: Session, collections: Sequence[Collection]) -> list[CollectionView]:
    """The collections with their scales, in the same order."""
    ids = [collection.id for collection in collections]
    scales, trained = scales_of(session, ids), collections_with_training(session, ids)
    return [_view(session, one, scales[one.id], has_training=one.id in trained) for one in collections]


def _view(session: Session, collection: Collection, scale: Sequence[Grade], *, has_training: bool) -> CollectionView:
    return CollectionView(
        slug=collection.slug,
        title=collection.title,
        kind=CollectionKind(collection.kind),
        closed=collection.state == CollectionState.CLOSED,
        relevant_from=collection.relevant_from,
        judgements_wanted=collection.judgements_wanted,
        consensus_policy=collection.consensus_policy,
        scale=tuple(_meaning(grade) for grade in scale),
        terms=collection.terms,
        submissions_until=collection.submissions_until,
        submissions_until_written=collection.submissions_until_written,
        scores_released_at=collection.scores_released_at,
        scores_shown=ScoresShown(collection.scores_shown),
        released_version=released_version(session, collection.id, collection.scores_qrels_version),
        **{name: getattr(collection, name) for name in AS_STORED},
        has_training=has_training,
        judging_mode=JudgingMode(collection.judging_mode),
    )


@dataclass(frozen=True)
class Guidelines:
    """The current guidelines; number 0 and an empty text before the first version."""

    number: int
    text: str


@dataclass(frozen=True)
class Acceptance:
    """The number of the guidelines that a judge accepted last, None if none."""

    judge: str
    number: int | None


def set_guidelines(session: Session, slug: str, text: str, *, made_by_id: int | None, made_at: datetime) -> int:
    """Store a new version and return its number; an unchanged text creates no new version."""
    collection = lock_open_collection(session, slug)
    if not text.strip():
        raise InvalidValueError("Guidelines cannot be empty.")
    check_free_text(text, LONGEST_GUIDELINES)
    present = latest_guidelines(session, collection.id)
    if present is not None and present.text == text:
        return present.number
    number = present.number + 1 if present else 1
    session.add(
        GuidelineVersion(collection_id=collection.id, number=number, text=text, made_by_id=made_by_id, made_at=made_at)
    )
    return number


def show_guidelines(session: Session, slug: str) -> Guidelines:
    """The current version; number 0 if there is none."""
    present = latest_guidelines(session, find_collection(session, slug).id)
    return Guidelines(present.number, present.text) if present else Guidelines(0, "")


def accept_guidelines(session: Session, slug: str, judge_id: int, number: int) -> None:
    """Record that a judge has accepted this version; doing so again changes nothing.

    Raises `ConflictError` when another version is current by now, and `NotAllowedError` for a user who is no judge
    here.
    """
    collection = find_collection(session, slug)
    membership = session.scalar(_judges(collection.id).where(Membership.user_id == judge_id))
    if membership is None:
        raise NotAllowedError("Only judges of this collection accept its guidelines.")
    present = latest_guidelines(session, collection.id)
    if present is None or present.number != number:
        raise ConflictError("The guidelines have changed since you opened them: read them again.")
    membership.guidelines_accepted = number


def accepted_guidelines(session: Session, slug: str, judge_id: int) -> int | None:
    """The number of the version that this judge accepted last, None if none."""
    membership = session.scalar(_judges(find_collection(session, slug).id).where(Membership.user_id == judge_id))
    return membership.guidelines_accepted if membership else None


def list_acceptances(session: Session, slug: str) -> list[Acceptance]:
    """The version each judge has accepted, by name."""
    statement = _judges(find_collection(session, slug).id).join(User, User.id == Membership.user_id)
    rows = session.execute(statement.with_only_columns(User.name, Membership.guidelines_accepted).order_by(User.name))
    return [Acceptance(name, number) for name, number in rows]


def _judges(collection_id: int) -> Select[Membership]:
    return select(Membership).where(Membership.collection_id == collection_id, Membership.role == Role.JUDGE)
