"""Runs from search engines: each topic's title is searched for, and the hits become a run as an uploaded file does."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.formats.document_formats import ParsedDocument
from annotator.evaluation.formats.identifiers import MAX_IDENTIFIER_BYTES, is_too_long, natural_order
from annotator.evaluation.runs.run_intake import refusal_of_any
from annotator.evaluation.runs.run_tags import Sender
from annotator.evaluation.runs.run_tasks import choose_task
from annotator.evaluation.runs.search_engines import EngineHit, SearchEngine, document_of, run_of
from annotator.files import InputFile
from annotator.storage import ACCEPTED, Database, Topic
from annotator.storage.collections.audit import Actor
from annotator.storage.collections.collection import find_open_collection, round_of_new_runs, topic_ids
from annotator.storage.people.accounts import check_team_name
from annotator.storage.runs.runs import RunDetails
from annotator.storage.runs.sent_runs import Receipt
from annotator.workflows.documents.documents import DocumentImport
from annotator.workflows.runs.engine_requests import EngineAccess, Progress, ask_engine
from annotator.workflows.runs.run_rules import sorted_tags
from annotator.workflows.runs.run_upload import Brought, CheckedRun, Submission, upload
from annotator.workflows.runs.runs import check_details
from annotator.workflows.runs.tasks import task_rules
from annotator.workflows.site.outgoing import check_address

NAMED_TOPICS = 5


@dataclass(frozen=True)
class RunOrder:
    """What is fetched: the engine, the tag of the run, its details, and whether a run of this tag is replaced.

    `source_id` is that of the source to which the run will belong.
    """

    engine: SearchEngine
    tag: str
    details: RunDetails
    replaces: bool = False
    source_id: int | None = None

    @property
    def submission(self) -> Submission:
        """That of an organiser, for the team of the run."""
        return Submission(Sender(self.details.team, organises=True, replaces=self.replaces), self.details)

    def brought(self, texts: Sequence[ParsedDocument]) -> Brought:
        """What comes with the run."""
        return Brought(
            texts, {"host": self.engine.host, "dialect": self.engine.dialect.value}, source_id=self.source_id
        )


@dataclass(frozen=True)
class FetchedRun:
    """A stored run with its receipt, the hits of all topics, and the topics with fewer hits than the depth.

    `texts` is what the import of the texts did, None when none were to be stored.
    """

    run: CheckedRun
    receipt: Receipt
    topics: int
    hits: int
    fewer: int
    without: Sequence[str]
    texts: DocumentImport | None


def check_order(session: Session, slug: str, order: RunOrder, access: EngineAccess) -> dict[str, str]:
    """Topic → query of the accepted topics, of the task where there is one, if a run can be fetched; nothing is sent.

    Raises `InvalidValueError` for a malformed engine and for topics without a title, `NotAllowedError` for a host that
    no administrator has named, `ConflictError` without topics, and for what would refuse the run as an upload.
    """
    check_address(order.engine.check(), access.hosts)
    topics = _foresee_run(session, slug, order.tag, order.submission)
    if not order.tag or is_too_long(order.tag):
        raise InvalidValueError("The tag of a run has from 1 to %(most)d bytes.", most=MAX_IDENTIFIER_BYTES)
    found = _queries(session, find_open_collection(session, slug).id)
    queries = {number: query for number, query in found.items() if topics is None or number in topics}
    if not queries:
        raise ConflictError("The collection has no accepted topics, so that there is nothing to search for.")
    untitled = [number for number, query in queries.items() if not query]
    if untitled:
        raise InvalidValueError("Topics without a title to search for: %(topics)s.", topics=_named(untitled))
    return queries


def _foresee_run(session: Session, slug: str, tag: str, submission: Submission) -> frozenset[str] | None:
    """Raise for what would refuse an organiser's run with this tag whatever it ranks, before anything is done for it.

    Returns the accepted topics of its task, None where the collection has no tasks. Raises `InvalidValueError` for a
    tag that no run can have, for invalid details and for what is wrong with the task, `ConflictError` for a tag that
    the sender may not use and when no round takes runs, and `NotFoundError` for an unknown round.
    """
    collection = find_open_collection(session, slug)
    malformed = refusal_of_any(tag)
    if malformed is not None:
        raise InvalidValueError(malformed.template, **malformed.values)
    tags, details = sorted_tags(session, collection.id, submission.sender), submission.details
    tag = tags.stored(tag)
    refusal = tags.refused.get(tag)
    if refusal is not None:
        raise ConflictError(refusal.template, **refusal.values)
    check_details(details)
    if details.team is not None:
        check_team_name(details.team)
    if details.round is not None or tag not in tags.corrected:
        round_of_new_runs(session, collection.id, details.round)
    accepted = topic_ids(session, collection.id, ACCEPTED)
    task = choose_task(task_rules(session, collection, accepted, accepted), details.task, tag, tags)
    return None if task is None else task.topics


def fetch_run(
    database: Database,
    slug: str,
    order: RunOrder,
    access: EngineAccess,
    *,
    actor: Actor,
    at: datetime,
    noted_at: datetime,
    unpacked_limit: int,
    keep: bool = True,
    progress: Progress | None = None,
) -> FetchedRun:
    """Ask the engine for every accepted topic, and store the run with its texts, or nothing.

    Raises as `check_order`, `ask_engine` and `upload`, and `ConflictError` when no topic has a hit, or no hit a text
    that was to be stored.
    """
    queries = database.read(check_order, slug, order, access)
    hits = ask_engine(order.engine, queries, access, most_text=unpacked_limit, progress=progress)
    if not any(hits.values()):
        raise ConflictError("%(address)s found nothing for any topic. No run was stored.", address=order.engine.address)
    texts = _texts(order.engine, hits.values()) if order.engine.with_texts else []
    done = upload(
        database,
        slug,
        [InputFile(f"{order.tag.replace('/', '_')}.run", run_of(order.tag, hits), "trec")],
        order.submission,
        actor=actor,
        at=at,
        noted_at=noted_at,
        unpacked_limit=unpacked_limit,
        keep=keep,
        brought=order.brought(texts),
    )
    return FetchedRun(
        done.runs[0],
        done.receipts[0],
        len(hits),
        sum(map(len, hits.values())),
        sum(len(its_hits) < order.engine.depth for its_hits in hits.values()),
        [topic for topic, its_hits in hits.items() if not its_hits],
        done.texts,
    )


def _queries(session: Session, collection_id: int) -> dict[str, str]:
    rows = session.execute(
        select(Topic.number, Topic.title).where(Topic.collection_id == collection_id, ACCEPTED)
    ).all()
    return {number: " ".join(title.split()) for number, title in sorted(rows, key=lambda row: natural_order(row[0]))}


def _texts(engine: SearchEngine, hits: Iterable[Sequence[EngineHit]]) -> list[ParsedDocument]:
    """The texts of the hits, each document once."""
    texts: Mapping[str, ParsedDocument] = {
        hit.docno: document_of(hit) for its_hits in hits for hit in its_hits if hit.body
    }
    if not texts:
        raise ConflictError(
            "%(address)s sent no text with its hits. Nothing was stored: name the path of the text, or store none.",
            address=engine.address,
        )
    return list(texts.values())


def _named(topics: Sequence[str]) -> str:
    return ", ".join(topics[:NAMED_TOPICS]) + (" …" if len(topics) > NAMED_TOPICS else "")
