"""A run of a machine judge at work, and the part of its documents that is asked about next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from annotator.errors import Sentence
from annotator.evaluation.machine_judging.completions import ModelRequest
from annotator.evaluation.machine_judging.tokens import Ceiling, Tokens
from annotator.storage import (
    MachineRun,
    MachineRunState,
)
from annotator.storage.agreement.machine_judging import (
    JudgedText,
    StoredResponse,
    due_deferred,
    stored_responses,
    texts_after,
    texts_among,
)
from annotator.workflows.agreement.machine_setup import (
    MachineVersion,
    PromptParts,
    prompt_parts,
    requests_for,
    retrieved_documents,
)
from annotator.workflows.agreement.model_requests import Failure, ModelError

DOCUMENTS_OF_A_PART = 256
# When so many requests failed, and none succeeded, the rest of the part is not tried.
ENOUGH_FAILURES = 3


@dataclass(frozen=True)
class RunAtHand:
    """A run that a worker has taken; the attempt distinguishes it from an earlier worker's."""

    id: int
    attempt: int
    slug: str
    version: MachineVersion
    scope: Mapping[str, Any]
    ceiling: Ceiling
    used: Tokens
    at: tuple[int, int]


@dataclass
class AskedDocument:
    """A document of a part, with its requests and what came of them."""

    id: int
    requests: Sequence[ModelRequest]
    error: ModelError | None = None
    digests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.digests = [request.digest() for request in self.requests]


@dataclass
class Part:
    """Documents of one topic; `is_deferred` when they are tried again."""

    topic_id: int
    parts: PromptParts
    documents: list[AskedDocument]
    is_deferred: bool
    responses: dict[str, StoredResponse]
    fresh: int = 0  # responses that came now
    stop: Sentence | None = None  # why the run is to stop
    pause: ModelError | None = None  # why the endpoint is left alone
    is_lost: bool = False  # cancelled, or taken by another worker

    def gives_nothing(self, *, is_first: bool) -> bool:
        """Whether the endpoint failed at several documents and gave no response.

        Before the first response of all, refusals count: what is wrong is in every request.
        """
        counting = {Failure.PASSING, Failure.REFUSED} if is_first and not self.responses else {Failure.PASSING}
        failures = sum(one.error is not None and one.error.failure in counting for one in self.documents)
        return failures >= ENOUGH_FAILURES and not self.fresh

    def settled(self) -> list[AskedDocument]:
        """The documents before the first one that still lacks a response and has not failed."""
        for place, one in enumerate(self.documents):
            if one.error is None and not all(digest in self.responses for digest in one.digests):
                return self.documents[:place]
        return self.documents


def is_held(row: MachineRun, run: RunAtHand) -> bool:
    """Whether a run, locked, is at work and still that of the worker that took it."""
    return row.attempt == run.attempt and row.state == MachineRunState.RUNNING


def next_part(session: Session, run: RunAtHand, at: datetime) -> Part | None:
    """The next documents, or those that are due again; None when none is left."""
    due = due_deferred(session, run.version.id, now=at, most=DOCUMENTS_OF_A_PART)
    if due is not None:
        topic_id, documents = due
        part = _part(session, run, topic_id, 0, documents, is_deferred=True)
        if part is not None:
            return part
    at_topic, at_document = run.at
    chosen = _chosen(run.scope)
    for topic_id in run.scope["topics"]:
        if topic_id >= at_topic:
            after = at_document if topic_id == at_topic else 0
            among = None if chosen is None else chosen.get(topic_id, [])
            part = _part(session, run, topic_id, after, among, is_deferred=False)
            if part is not None:
                return part
    return None


def _chosen(scope: Mapping[str, Any]) -> dict[int, list[int]] | None:
    if "documents" not in scope:
        return None
    chosen: dict[int, list[int]] = {}
    for topic, document in scope["documents"]:
        chosen.setdefault(topic, []).append(document)
    return chosen


def _part(
    session: Session, run: RunAtHand, topic_id: int, after: int, among: Sequence[int] | None, *, is_deferred: bool
) -> Part | None:
    parts = prompt_parts(session, run.version.collection_id, topic_id)
    if parts is None or among == []:
        return None
    texts = _texts(session, run, topic_id, after, among, is_deferred=is_deferred)
    if not texts:
        return None
    documents = [AskedDocument(text.document_id, requests_for(run.version.settings, parts, text)) for text in texts]
    digests = dict.fromkeys(digest for one in documents for digest in one.digests)
    responses = stored_responses(session, run.version.collection_id, digests)
    return Part(topic_id, parts, documents, is_deferred, responses)


def _texts(
    session: Session, run: RunAtHand, topic_id: int, after: int, among: Sequence[int] | None, *, is_deferred: bool
) -> list[JudgedText]:
    most, depth = DOCUMENTS_OF_A_PART, run.scope.get("depth")
    if depth is None:
        judged = bool(run.scope["judged"]) and not is_deferred
        return texts_after(session, topic_id, after, most=most, judged=judged, among=among)
    ids = retrieved_documents(session, run.version.collection_id, topic_id, depth) if among is None else among
    return texts_among(session, [id_ for id_ in ids if id_ > after], most=most)
