"""Rules for submissions: the deadline, the terms, and the release of scores to participants."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotAllowedError, NotFoundError
from annotator.evaluation.formats.identifiers import check_free_text
from annotator.evaluation.runs.tag_rules import TagRule, check_team_rules
from annotator.moments import has_time, read_moment, write_moment
from annotator.storage import Collection, CollectionState, Membership, PublicScores, Role, ScoresShown, Team
from annotator.storage.collections.audit import NO_MOMENT
from annotator.storage.collections.collection import (
    find_collection,
    find_open_collection,
    lock_collection,
    lock_open_collection,
)
from annotator.storage.judging.foreseen_marks import ForeseenMarks
from annotator.storage.qrels.qrels_versions import LIVE, kept_version, version_number
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.collections.queue_settings import QueueChange, change_queue

LONGEST_TERMS = 100_000
LONGEST_CORPUS = 10_000
GREATEST_MOST_DOCUMENTS = 100_000

NO_DEADLINE = "none"
NOW = "now"
NEW_VERSION = "new"  # a new qrels version, kept from the live grades when scores are released
LONGEST_DEADLINE = 100


@dataclass(frozen=True)
class Deadline:
    """The time before which participants send and correct runs, and its text; `at` is None for no deadline."""

    at: datetime | None
    written: str = ""


@dataclass(frozen=True)
class SubmissionChange:
    """New values of settings; None leaves one unchanged.

    Empty terms require no acceptance, and with 0 as the most runs of a team it may send any number.
    """

    deadline: Deadline | None = None
    terms: str | None = None
    most_documents: int | None = None
    tag_start: str | None = None
    most_tag_characters: int | None = None
    plain_tags: bool | None = None
    most_runs: int | None = None
    corpus: str | None = None
    shares_docnos: bool | None = None
    shares_qrels: bool | None = None

    @property
    def is_of_files(self) -> bool:
        """Whether it changes only where the documents are and which files participants may download."""
        return self == SubmissionChange(
            corpus=self.corpus, shares_docnos=self.shares_docnos, shares_qrels=self.shares_qrels
        )

    def details(self) -> dict[str, object]:
        """The fields for the audit log, which distinguish removing the deadline from leaving it unchanged."""
        deadline = None if self.deadline is None else self.deadline.at or NO_MOMENT
        return {**vars(self), "deadline": deadline}


@dataclass(frozen=True)
class Terms:
    """The terms for one person; the fingerprint identifies the text they read."""

    text: str
    fingerprint: str
    accepted_at: datetime | None


@dataclass(frozen=True)
class SenderState:
    """What prevents a participant from sending runs now."""

    deadline_passed: bool
    must_accept_terms: bool

    @property
    def may_send(self) -> bool:
        """Whether nothing prevents them."""
        return not self.deadline_passed and not self.must_accept_terms


def read_deadline(text: str) -> Deadline:
    """Parse a deadline, a date with a time of day as `read_moment` parses it.

    An empty text or `none` is no deadline. Raises `InvalidValueError` for an invalid text.
    """
    written = text.strip()
    if written in {"", NO_DEADLINE}:
        return Deadline(None)
    at = read_moment(written)
    if not has_time(written):
        raise InvalidValueError(
            "“%(text)s” is a day: give the deadline a time, such as “%(text)s 23:59 AoE”, for a day could mean its "
            "beginning or its end.",
            text=written,
        )
    if len(written) > LONGEST_DEADLINE:
        raise InvalidValueError("A deadline is written in at most %(most)d characters.", most=LONGEST_DEADLINE)
    return Deadline(at, written)


def read_end(text: str) -> datetime:
    """Parse the end of something that has to end; raises `InvalidValueError` as `read_deadline`, and for none."""
    end = read_deadline(text).at
    if end is None:
        raise InvalidValueError("Until when? Give a moment, such as “2026-05-01 23:59 AoE”.")
    return end


def write_deadline(at: datetime | None, written: str = "") -> str:
    """A deadline as text for `read_deadline`: as entered, else in UTC; empty when there is none."""
    return "" if at is None else written or write_moment(at)


def deadline_in_words(at: datetime | None, written: str) -> str:
    """A deadline as entered and, if different, in UTC; empty when there is none."""
    if at is None:
        return ""
    in_utc = write_moment(at)
    return in_utc if written in {"", in_utc} else f"{written} ({in_utc})"


def change_submissions(session: Session, slug: str, change: SubmissionChange) -> None:
    """Change the rules for submissions; changed terms must be accepted again.

    Raises `ConflictError` in a closed collection, unless the change is of the files for participants alone.
    """
    # Qrels are usually shared, and taken back, after the collection was closed.
    collection = (lock_collection if change.is_of_files else lock_open_collection)(session, slug)
    if change.deadline is not None:
        collection.submissions_until = change.deadline.at
        collection.submissions_until_written = change.deadline.written
    if change.most_documents is not None:
        if not 1 <= change.most_documents <= GREATEST_MOST_DOCUMENTS:
            raise InvalidValueError(
                "The most documents a topic is a number from 1 to %(most)d, not %(given)d.",
                most=GREATEST_MOST_DOCUMENTS,
                given=change.most_documents,
            )
        collection.most_documents = change.most_documents
    _change_team_rules(collection, change)
    _change_files(collection, change)
    if change.terms is not None and change.terms.strip() != collection.terms:
        check_free_text(change.terms, LONGEST_TERMS)
        collection.terms = change.terms.strip()
        session.execute(
            update(Membership).where(Membership.collection_id == collection.id).values(terms_accepted_at=None)
        )


def _change_team_rules(collection: Collection, change: SubmissionChange) -> None:
    """Change the rule for tags and the most runs of a team; they bind runs that are sent from now on."""
    start, most, plain = change.tag_start, change.most_tag_characters, change.plain_tags
    rule = TagRule(
        collection.tag_start if start is None else start.strip(),
        collection.most_tag_characters if most is None else most,
        collection.plain_tags if plain is None else plain,
    )
    most_runs = collection.most_runs if change.most_runs is None else change.most_runs
    check_team_rules(rule, most_runs)
    collection.tag_start, collection.most_tag_characters = rule.start, rule.most_characters
    collection.plain_tags, collection.most_runs = rule.plain, most_runs


def _change_files(collection: Collection, change: SubmissionChange) -> None:
    """Change where the documents are, and which files participants may download."""
    if change.corpus is not None:
        check_free_text(change.corpus, LONGEST_CORPUS)
        collection.corpus = change.corpus.strip()
    if change.shares_docnos is not None:
        collection.shares_docnos = change.shares_docnos
    if change.shares_qrels is not None:
        collection.shares_qrels = change.shares_qrels


def change_settings(
    session: Session,
    slug: str,
    settings: CollectionChange,
    queue: QueueChange,
    rules: SubmissionChange,
    *,
    foreseen: ForeseenMarks | None = None,
) -> str | None:
    """Change the given settings, and return the consensus policy if it was given or changes with the mode.

    `foreseen` has the marks of the items, where `foresee_queue` computed them before.
    """
    # The queue first: a mode may set its default policy, and an explicit policy takes precedence.
    policy = change_queue(session, slug, queue, foreseen=foreseen) if queue != QueueChange() else None
    if settings != CollectionChange():
        change_collection(session, slug, settings, foreseen=foreseen)
    if rules != SubmissionChange():
        change_submissions(session, slug, rules)
    return settings.consensus_policy or policy


def read_release_moment(text: str) -> datetime | None:
    """Parse the time of a release like a deadline; None for `now` or an empty text; raises `InvalidValueError`."""
    written = text.strip()
    if written in {"", NOW}:
        return None
    return read_moment(written)


def scores_seen(released_at: datetime | None, shown: ScoresShown, *, at: datetime) -> ScoresShown:
    """Which scores participants see at a time."""
    return ScoresShown.NOTHING if released_at is None or at < released_at else shown


def release_scores(
    session: Session,
    slug: str,
    *,
    at: datetime,
    moment: datetime | None = None,
    shown: ScoresShown | None = None,
    qrels: str | None = None,
    early: bool = False,
) -> None:
    """Release scores to participants from a time on: those of runs uploaded before it.

    They see as much as `shown`, computed from the grades of `qrels`: the number of a kept version, or `live`, the
    grades at the time of viewing. Missing arguments keep their earlier value; initially these are the current time, a
    team's own scores beside the worst, the median and the best of all, and `live`. Raises `ConflictError` while runs
    are still accepted at that time, unless `early`: participants who can send runs and see their scores can infer the
    grades; and as `version_number` and `kept_version` for the qrels.
    """
    collection = lock_collection(session, slug)
    if shown is ScoresShown.NOTHING:
        _take_back(collection)
        return
    if moment is not None or collection.scores_released_at is None:
        wanted = moment or at
        if not early and collection.state == CollectionState.OPEN:
            _refuse_early_release(collection, wanted)
        collection.scores_released_at = wanted
    if shown is not None:
        collection.scores_shown = shown
    if qrels == LIVE and collection.public_scores not in {PublicScores.NOTHING, PublicScores.TASK}:
        raise ConflictError(
            "The public pages show scores, and these refer to a kept version of the qrels: make nothing public before "
            "you release live scores."
        )
    if qrels is not None:
        collection.scores_qrels_version = (
            None if qrels == LIVE else kept_version(session, collection.id, str(version_number(qrels))).number
        )


def keeps_version(qrels: str | None, shown: ScoresShown | None, released_at: datetime | None) -> bool:
    """Whether a release keeps the live grades: on request, and by default when nothing is released yet."""
    return shown is not ScoresShown.NOTHING and (qrels == NEW_VERSION or (qrels is None and released_at is None))


def take_scores_back(session: Session, slug: str) -> None:
    """Hide scores from participants and from the public pages, also after a later release."""
    _take_back(lock_collection(session, slug))


def _take_back(collection: Collection) -> None:
    collection.scores_released_at = None
    collection.scores_qrels_version = None
    if collection.public_scores != PublicScores.TASK:
        collection.public_scores = PublicScores.NOTHING


def show_terms(session: Session, slug: str, user_id: int) -> Terms:
    """The terms, and when this person accepted them; None for a person who is no participant."""
    collection = find_collection(session, slug)
    membership = _participation(session, collection.id, user_id)
    accepted_at = None if membership is None else membership.terms_accepted_at
    return Terms(collection.terms, _fingerprint(collection.terms), accepted_at)


def accept_terms(session: Session, slug: str, user_id: int, *, fingerprint: str, at: datetime) -> None:
    """Record that a participant accepts the terms they read; accepting twice keeps the first time.

    Raises `ConflictError` when the terms have changed, and `NotFoundError` for a person who is no participant.
    """
    collection = lock_collection(session, slug)
    membership = _participation(session, collection.id, user_id)
    if membership is None:
        raise NotFoundError("You belong to no team in this collection.")
    if fingerprint != _fingerprint(collection.terms):
        raise ConflictError("The terms have changed since you opened their page. Read them again.")
    membership.terms_accepted_at = membership.terms_accepted_at or at


def sender_state(session: Session, slug: str, user_id: int, *, now: datetime) -> SenderState:
    """What prevents a participant from sending runs; organisers are exempt."""
    collection = find_collection(session, slug)
    return SenderState(_is_late(collection, now), _must_accept(session, collection, user_id))


def check_may_send(session: Session, slug: str, user_id: int | None, *, team: str | None, at: datetime) -> Collection:
    """Raise if a participant is late, has not accepted the terms or has left the team.

    An organiser has no team (None) and is exempt. For the transaction that stores runs: the returned collection is
    locked, so that none of this changes. Raises `ConflictError` from the deadline on and in a closed collection,
    `NotAllowedError` for terms not accepted and for another team.
    """
    collection = lock_open_collection(session, slug)
    _refuse_sender(session, collection, user_id, team, at)
    return collection


def foresee_sending(session: Session, slug: str, user_id: int | None, *, team: str | None, at: datetime) -> None:
    """Raise as `check_may_send`, without a lock, before any file is read."""
    _refuse_sender(session, find_open_collection(session, slug), user_id, team, at)


def check_may_change(session: Session, slug: str, user_id: int | None, *, team: str | None, at: datetime) -> Collection:
    """Raise if a participant changes runs after the deadline, or of a team they have left; locks the collection.

    Terms need not be accepted: a participant who rejects new ones can still withdraw runs. Returns the locked
    collection.
    """
    collection = lock_open_collection(session, slug)
    _refuse_change(session, collection, user_id, team, at)
    return collection


def refuse_after_deadline(session: Session, slug: str, *, at: datetime) -> None:
    """Raise `ConflictError` when the deadline for runs has passed."""
    _refuse_late(find_collection(session, slug), at)


def _refuse_early_release(collection: Collection, at: datetime) -> None:
    if collection.submissions_until is None:
        raise ConflictError(
            "Runs are accepted at any time, so teams could submit runs until the scores reveal the grades. Set a "
            "deadline first, close the collection, or state that the scores are released early."
        )
    if not _is_late(collection, at):
        raise ConflictError(
            "The submission deadline is %(moment)s: until then, teams could try out runs until the "
            "scores reveal the grades. Wait for the deadline, close the collection, or state that the "
            "scores are released early.",
            moment=deadline_in_words(collection.submissions_until, collection.submissions_until_written),
        )


def _refuse_sender(
    session: Session, collection: Collection, user_id: int | None, team: str | None, at: datetime
) -> None:
    _refuse_change(session, collection, user_id, team, at)
    if team is not None and _must_accept(session, collection, user_id):
        raise NotAllowedError("Accept the terms of the task before you send runs.")


def _refuse_change(
    session: Session, collection: Collection, user_id: int | None, team: str | None, at: datetime
) -> None:
    if team is None:
        return
    membership = _participation(session, collection.id, user_id)
    own_team = None if membership is None else session.get(Team, membership.team_id)
    if own_team is None or own_team.name != team:
        raise NotAllowedError("You are not in the team %(team)s any more.", team=team)
    _refuse_late(collection, at)


def _refuse_late(collection: Collection, at: datetime) -> None:
    if _is_late(collection, at):
        raise ConflictError(
            "The submission deadline has passed: runs could be submitted and changed before %(moment)s.",
            moment=deadline_in_words(collection.submissions_until, collection.submissions_until_written),
        )


def _is_late(collection: Collection, at: datetime) -> bool:
    return collection.submissions_until is not None and at >= collection.submissions_until


def _must_accept(session: Session, collection: Collection, user_id: int | None) -> bool:
    membership = _participation(session, collection.id, user_id)
    return bool(collection.terms) and (membership is None or membership.terms_accepted_at is None)


def _participation(session: Session, collection_id: int, user_id: int | None) -> Membership | None:
    return session.scalar(
        select(Membership).where(
            Membership.collection_id == collection_id,
            Membership.user_id == user_id,
            Membership.role == Role.PARTICIPANT,
        )
    )


def _fingerprint(terms: str) -> str:
    return hashlib.sha256(terms.encode()).hexdigest()
