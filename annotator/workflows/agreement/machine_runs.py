"""Runs of machine judges: estimate what one takes, start, follow, continue and cancel it."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, Sentence
from annotator.evaluation.machine_judging.tokens import TOKENS_A_MESSAGE, Ceiling, Tokens, estimated_tokens
from annotator.storage import MachineRun, MachineRunState
from annotator.storage.agreement.machine_judging import (
    OutcomeRow,
    count_documents,
    count_outcomes,
    count_texts,
    find_version,
    forget_deferred,
    judged_pairs,
    last_run,
    list_outcomes,
    runs_of,
    stored_responses,
    texts_after,
    texts_among,
)
from annotator.storage.collections.collection import accepted_topics, find_collection, lock_open_collection
from annotator.storage.tables.machine_judging import OutcomeKind
from annotator.workflows.agreement.machine_setup import (
    MachineVersion,
    prompt_parts,
    requests_for,
    retrieved_documents,
    show_version,
)

TRIAL = 20  # documents
MOST_TRIED = 1_000
GREATEST_DEPTH = 10_000
# Documents whose prompts are made for an estimate.
SAMPLED = 200
RUNS_LISTED = 20
SECONDS_AN_HOUR = 3_600
USUAL_SEED = 1


@dataclass(frozen=True)
class RunRequest:
    """Which documents a run is about, and where it stops.

    Without more, all pooled documents with a text. With `depth`, instead all documents with a text that runs in force
    have up to this rank, pooled or not, as a sample by the machine's grades needs them. With `tried`, so many pooled
    documents drawn by the seed: of those that people have graded, filled up with others.
    """

    topics: Sequence[str] | None = None
    only_judged: bool = False
    depth: int | None = None
    tried: int | None = None
    seed: int = USUAL_SEED
    ceiling: Ceiling = field(default_factory=Ceiling)


@dataclass(frozen=True)
class RunEstimate:
    """What a run would take; `tokens` received are the most that responses may have.

    `requests` are to be sent, `stored` are those whose responses are stored. Both and the tokens are computed from
    `sampled` documents, and exact when these are all.
    """

    documents: int
    without_text: int
    requests: int
    stored: int
    tokens: Tokens
    cost: float | None
    sampled: int


@dataclass(frozen=True)
class RunView:
    """A run and how far it has come; `remaining` is what the rest would use at its mean so far."""

    id: int
    judge: str
    host: str
    state: MachineRunState
    topics: int | None
    only_judged: bool
    depth: int | None
    is_trial: bool
    ceiling: Ceiling
    documents: int
    labelled: int
    without_grade: int
    failed: int
    requests: int
    stored: int
    used: Tokens
    cost: float | None
    remaining: Tokens | None
    remaining_cost: float | None
    documents_an_hour: int | None
    seconds_left: int | None
    problem: Sentence | None
    paused_until: datetime | None
    started_by: str | None
    started_at: datetime
    finished_at: datetime | None

    @property
    def done(self) -> int:
        """The documents that are settled."""
        return self.labelled + self.without_grade + self.failed


@dataclass(frozen=True)
class MachineView:
    """A version with its runs, newest first, and its documents without a label."""

    version: MachineVersion
    runs: tuple[RunView, ...]
    without_grade: int
    failed: int


def estimate_run(session: Session, slug: str, name: str, number: int | None, request: RunRequest) -> RunEstimate:
    """Count the documents of a run, and estimate its requests, tokens and cost; nothing is sent or stored.

    Raises as `start_run`, except for a run at hand.
    """
    version = show_version(session, slug, name, number)
    scope, documents, without_text = _scope(session, version, request)
    request.ceiling.check(version.settings.prices)
    sampled = stored = 0
    tokens = Tokens(0, 0)
    digests: set[str] = set()
    for topic_id, texts in _sample(session, version.collection_id, scope):
        parts = prompt_parts(session, version.collection_id, topic_id)
        if parts is None:
            continue
        for text in texts:
            requests = requests_for(version.settings, parts, text)
            known = stored_responses(session, version.collection_id, [one.digest() for one in requests])
            missing = [one for one in requests if one.digest() not in known and one.digest() not in digests]
            digests |= {one.digest() for one in missing}
            stored += len(requests) - len(missing)
            for one in missing:
                tokens = tokens.plus(Tokens(prompt_tokens(one.prompt), one.answer_tokens))
            sampled += 1
    share = documents / sampled if sampled else 0
    needed = tokens.times(share)
    every = documents * version.settings.samples
    known_already = min(round(stored * share), every)
    cost = version.settings.prices.cost(needed)
    return RunEstimate(documents, without_text, every - known_already, known_already, needed, cost, sampled)


def start_run(
    session: Session,
    slug: str,
    name: str,
    number: int | None,
    request: RunRequest,
    *,
    by_id: int | None,
    at: datetime,
) -> RunView:
    """Have a worker ask a model about documents; what was asked before with the same prompt and text is not sent again.

    Raises `NotFoundError` for an unknown machine judge or topic, `InvalidValueError` for a ceiling that cannot be one
    and when there is no document to ask about, and `ConflictError` while another run of the version is at work.
    """
    collection = lock_open_collection(session, slug)
    row, _ = find_version(session, collection.id, name, number)
    version = show_version(session, slug, name, row.version)
    request.ceiling.check(version.settings.prices)
    _refuse_running(session, version)
    scope, documents, _ = _scope(session, version, request)
    forget_deferred(session, row.id)
    run = MachineRun(machine_judge_id=row.id, state=MachineRunState.RUNNING.value, scope=scope, documents=documents)
    run.most_tokens, run.most_cost = request.ceiling.tokens, request.ceiling.cost
    run.started_by_id, run.started_at = by_id, at
    session.add(run)
    session.flush()
    return _newest(session, version)


def continue_run(session: Session, slug: str, name: str, number: int | None, ceiling: Ceiling | None = None) -> RunView:
    """Let a worker go on with the last run of a version, which was stopped or cancelled, where it was.

    With `ceiling`, it takes the place of the earlier one. Raises `ConflictError` when the run is at work or done.
    """
    collection = lock_open_collection(session, slug)
    row, _ = find_version(session, collection.id, name, number)
    version = show_version(session, slug, name, row.version)
    run = last_run(session, row.id, lock=True)
    if run is None or run.state not in {MachineRunState.STOPPED, MachineRunState.CANCELLED}:
        raise ConflictError("The last run of “%(judge)s” was not stopped: start one.", judge=version.judge)
    if ceiling is not None:
        ceiling.check(version.settings.prices)
        run.most_tokens, run.most_cost = ceiling.tokens, ceiling.cost
    run.state, run.failures, run.paused_until, run.finished_at = MachineRunState.RUNNING.value, 0, None, None
    run.problem, run.problem_values = "", {}
    session.flush()
    return _newest(session, version)


def cancel_run(session: Session, slug: str, name: str, number: int | None, *, at: datetime) -> RunView:
    """Cancel the run of a version: requests that are on their way are still recorded, no further ones are sent.

    Raises `ConflictError` when none is at work.
    """
    collection = find_collection(session, slug)
    row, _ = find_version(session, collection.id, name, number)
    version = show_version(session, slug, name, row.version)
    run = last_run(session, row.id, lock=True)
    if run is None or run.state != MachineRunState.RUNNING:
        raise ConflictError("No run of “%(judge)s” is at work.", judge=version.judge)
    run.state, run.finished_at = MachineRunState.CANCELLED.value, at
    session.flush()
    return _newest(session, version)


def view_machine(session: Session, slug: str, name: str, number: int | None = None) -> MachineView:
    """A version of a machine judge, or the newest, with its latest runs. Raises `NotFoundError`."""
    version = show_version(session, slug, name, number)
    counts = count_outcomes(session, version.id)
    return MachineView(
        version,
        tuple(_views(session, version)),
        counts[OutcomeKind.WITHOUT_GRADE],
        counts[OutcomeKind.FAILED] + counts[OutcomeKind.DEFERRED],
    )


def documents_without_label(
    session: Session, slug: str, name: str, number: int | None = None, *, first: int = 0, most: int | None = None
) -> list[OutcomeRow]:
    """The documents that a version was asked about without getting a label, with the response where there is one."""
    row, _ = find_version(session, find_collection(session, slug).id, name, number)
    return list_outcomes(session, row, first=first, most=most)


def prompt_tokens(prompt: str) -> int:
    """About how many tokens a request with this prompt sends."""
    return estimated_tokens(prompt) + TOKENS_A_MESSAGE


def _refuse_running(session: Session, version: MachineVersion) -> None:
    run = last_run(session, version.id, lock=True)
    if run is not None and run.state == MachineRunState.RUNNING:
        raise ConflictError("A run of “%(judge)s” is at work already: cancel it, or wait.", judge=version.judge)


def _scope(session: Session, version: MachineVersion, request: RunRequest) -> tuple[dict[str, Any], int, int]:
    """The documents of a run as they are stored, their number, and how many have no text."""
    topics = sorted(accepted_topics(session, version.collection_id, request.topics))
    if request.tried is not None and not 1 <= request.tried <= MOST_TRIED:
        raise InvalidValueError("A trial has 1 to %(most)d documents.", most=MOST_TRIED)
    if request.depth is not None:
        return _scope_to_depth(session, version, topics, request)
    documents, without_text = count_documents(session, topics, judged=request.only_judged)
    if not documents and request.only_judged:
        raise InvalidValueError(
            "There is no document to ask about: no pooled document of these topics has a text and a grade by people."
        )
    if not documents:
        raise InvalidValueError("There is no document to ask about: no pooled document of these topics has a text.")
    scope: dict[str, Any] = {"topics": topics, "judged": request.only_judged}
    if request.tried is not None:
        scope["documents"] = _drawn(session, topics, request.tried, request)
        documents, without_text = len(scope["documents"]), 0
    return scope, documents, without_text


def _scope_to_depth(
    session: Session, version: MachineVersion, topics: list[int], request: RunRequest
) -> tuple[dict[str, Any], int, int]:
    depth = request.depth or 0
    if not 1 <= depth <= GREATEST_DEPTH:
        raise InvalidValueError("A depth is a number from 1 to %(most)d.", most=GREATEST_DEPTH)
    if request.only_judged or request.tried is not None:
        raise InvalidValueError("A depth is of all documents: choose it, or graded ones, or a trial.")
    documents = without_text = 0
    for topic in topics:
        ids = retrieved_documents(session, version.collection_id, topic, depth)
        with_text = count_texts(session, ids)
        documents, without_text = documents + with_text, without_text + len(ids) - with_text
    if not documents:
        raise InvalidValueError("There is no document to ask about: no document that the runs return has a text.")
    return {"topics": topics, "judged": False, "depth": depth}, documents, without_text


def _drawn(session: Session, topics: Sequence[int], count: int, request: RunRequest) -> list[list[int]]:
    """Documents of a trial: those that people have graded first, as only they can be compared."""
    generator = random.Random(request.seed)  # noqa: S311 - a sample, no secret
    judged = judged_pairs(session, topics)
    drawn = generator.sample(judged, min(count, len(judged)))
    if len(drawn) < count and not request.only_judged:
        known = set(judged)
        mixed = generator.sample(list(topics), len(topics))
        others = [
            (topic, text.document_id)
            for topic in mixed[:count]
            for text in texts_after(session, topic, 0, most=count + 1)
            if (topic, text.document_id) not in known
        ]
        drawn += generator.sample(others, min(count - len(drawn), len(others)))
    return [list(pair) for pair in sorted(drawn)]


def _sample(session: Session, collection_id: int, scope: dict[str, Any]) -> list[tuple[int, list[Any]]]:
    """Texts of some documents of a run, by topic: of each topic as many, by their ids."""
    if "documents" in scope:
        by_topic: dict[int, list[int]] = {}
        for topic, document in scope["documents"][:SAMPLED]:
            by_topic.setdefault(topic, []).append(document)
        return [(topic, texts_after(session, topic, 0, most=SAMPLED, among=some)) for topic, some in by_topic.items()]
    topics = scope["topics"]
    depth = scope.get("depth")
    apart = -(-len(topics) // SAMPLED)
    chosen = topics[::apart]
    each = -(-SAMPLED // len(chosen))
    if depth is None:
        return [(topic, texts_after(session, topic, 0, most=each, judged=scope["judged"])) for topic in chosen]
    return [
        (topic, texts_among(session, retrieved_documents(session, collection_id, topic, depth), most=each))
        for topic in chosen
    ]


def _newest(session: Session, version: MachineVersion) -> RunView:
    return _views(session, version, most=1)[0]


def _views(session: Session, version: MachineVersion, most: int = RUNS_LISTED) -> list[RunView]:
    return [_view(version, run, name) for run, name in runs_of(session, [version.id], most=most)]


def _view(version: MachineVersion, run: MachineRun, started_by: str | None) -> RunView:
    prices = version.settings.prices
    used = Tokens(run.tokens_sent, run.tokens_received)
    done = run.labelled + run.without_grade + run.failed
    left = max(run.documents - done, 0) * version.settings.samples
    # By the mean of this run: what is left of the stored responses is not known.
    remaining = used.times(left / run.requests) if run.requests and run.state != MachineRunState.DONE else None
    pace = None
    if run.state == MachineRunState.RUNNING and done and run.moved_at is not None:
        pace = done / max((run.moved_at - run.started_at) / timedelta(seconds=1), 0.001)
    return RunView(
        id=run.id,
        judge=version.judge,
        host=version.host,
        state=MachineRunState(run.state),
        topics=len(run.scope["topics"]),
        only_judged=bool(run.scope["judged"]),
        depth=run.scope.get("depth"),
        is_trial="documents" in run.scope,
        ceiling=Ceiling(run.most_tokens, run.most_cost),
        documents=run.documents,
        labelled=run.labelled,
        without_grade=run.without_grade,
        failed=run.failed,
        requests=run.requests,
        stored=max((run.labelled + run.without_grade) * version.settings.samples - run.requests, 0),
        used=used,
        cost=prices.cost(used),
        remaining=remaining,
        remaining_cost=None if remaining is None else prices.cost(remaining),
        documents_an_hour=None if pace is None else round(pace * SECONDS_AN_HOUR),
        seconds_left=None if pace is None else round(max(run.documents - done, 0) / pace),
        problem=Sentence(run.problem, run.problem_values) if run.problem else None,
        paused_until=run.paused_until,
        started_by=started_by,
        started_at=run.started_at,
        finished_at=run.finished_at,
    )
