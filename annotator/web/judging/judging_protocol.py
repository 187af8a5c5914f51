"""The endpoints of the judging screen's script: acts in, documents out; every response is JSON, errors included."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

from flask import Blueprint, Response
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError, generate_csrf
from werkzeug.exceptions import HTTPException

from annotator.errors import AnnotatorError, BusyError, ConflictError, NotFoundError
from annotator.storage import Database, Role
from annotator.storage.judging.judge_history import ShownDocument
from annotator.web.documents.document_parts import occurrences_in
from annotator.web.judging import onward
from annotator.web.judging.judging_acts import Sent, read_sent
from annotator.web.judging.judging_documents import document_json, parts_of
from annotator.web.serving.compression import compressed
from annotator.web.site import error_pages
from annotator.web.site.adaptive import choices_to_come, choose_if_few
from annotator.web.site.context import database, now
from annotator.web.site.json_answers import SIGNED_OUT, refusal, sent_json
from annotator.web.site.language import gettext
from annotator.web.site.query_string import asked_word
from annotator.web.site.safe_html import Rendering
from annotator.web.site.sessions import signed_in_as
from annotator.web.site.translate import say
from annotator.workflows.judging import judge_access, judge_desk, judging, judging_turn
from annotator.workflows.judging.judge_access import JudgeHere
from annotator.workflows.judging.judging_turn import NOTHING, Counted, Turn, submit
from annotator.workflows.judging.recording import Recorded

blueprint = Blueprint("judging_protocol", __name__)

# Documents are sent when the browser has fewer left: one response in two has some, or each to a judge who grades
# seven a second over a network that takes 300 ms, who then never waits. No more are held than with a smaller number.
REFILLED_BELOW = 7
# The epochs of databases: a database is restored while no process has it open.
EPOCHS: WeakKeyDictionary[Database, str] = WeakKeyDictionary()
# The cached counts of this process.
COUNTS: WeakKeyDictionary[Database, judging_turn.Memory] = WeakKeyDictionary()

# Characters of the words that are searched for in a document.
LONGEST_FOUND = 200

JsonView = Callable[..., ResponseReturnValue]


def let_in(role: Role) -> Callable[[JsonView], JsonView]:
    """Admit members with a role, and pass the judge to the view as its first argument; errors are JSON."""

    def decorate(view: JsonView) -> JsonView:
        @wraps(view)
        def guarded(slug: str, **values: Any) -> ResponseReturnValue:  # noqa: ANN401 - path parameters
            account = signed_in_as()
            judge = None
            if account is not None:
                with database().reading() as session:
                    judge = judge_access.find_judge(session, slug, *account, role=role)
            return signed_out() if judge is None else view(judge, slug, **values)

        return guarded

    return decorate


for_judges = let_in(Role.JUDGE)


@blueprint.post("/collections/<slug>/judge/topics/<path:number>/acts")
@for_judges
def acts(judge: JudgeHere, slug: str, number: str) -> ResponseReturnValue:
    """Store the judge's acts, each independently, and return documents when the browser has few left."""
    sent = read_sent(sent_json())
    at = now()
    known = _memory().of(slug, number, judge.id, at)
    draws = sent.draws and len(sent.holds) < REFILLED_BELOW
    holds = sent.holds if draws and not judge.is_adaptive else None
    turn = database().attempt(
        lambda session: submit(
            session, slug, number, judge.id, sent.acts, holds=holds, known=known, at=at, shown=sent.holds
        )
    )
    stored, counted = turn.recorded, turn.counted
    try:
        documents, stopped = _chosen(judge, slug, number, sent) if draws and judge.is_adaptive else drawn(turn, sent)
        if counted is None or counted.counts.put_off:
            # Deferred documents may be due again.
            counted = _count(judge, slug, number, at)
        _memory().keep(slug, number, judge.id, counted)
    except NotFoundError as no_topic:
        if not stored.acknowledged:
            raise
        # Stored acts are acknowledged even when another step failed.
        documents, stopped, counted = [], say(no_topic.sentence), None
    return answer(judge, sent, turn, documents, counted, stopped)


@blueprint.get("/collections/<slug>/judge/session")
@for_judges
def session_now(judge: JudgeHere, slug: str) -> ResponseReturnValue:  # noqa: ARG001 - used by the guard
    """The signed-in person and a CSRF token for the next requests."""
    return who(judge)


@blueprint.get("/collections/<slug>/judge/assignments/<row:assignment_id>.json")
@for_judges
def document(judge: JudgeHere, slug: str, assignment_id: int) -> ResponseReturnValue:
    """A document assigned to this judge, with their judgement and the assignment judged before it."""
    with database().reading() as session:
        shown, previous = judging.open_document(session, slug, assignment_id, judge.id)
    return as_json(document_json(shown, previous))


@blueprint.get("/collections/<slug>/judge/assignments/<row:assignment_id>/parts/<row:part>")
@for_judges
def document_part(judge: JudgeHere, slug: str, assignment_id: int, part: int) -> ResponseReturnValue:
    """One part of a document assigned to this judge, counted from 1."""
    with database().reading() as session:
        shown, _ = judging.open_document(session, slug, assignment_id, judge.id)
    return one_part(shown, part)


@blueprint.get("/collections/<slug>/judge/next/<path:number>")
@for_judges
def topic_after(judge: JudgeHere, slug: str, number: str) -> ResponseReturnValue:
    """The topic with which this judge continues after one, or why there is none."""
    return as_json(onward.after(slug, number, judge.id))


def refuse(error: AnnotatorError) -> ResponseReturnValue:
    """The JSON response to an application error."""
    return refusal(error_pages.status_of(error), say(error.sentence))


def refuse_token(error: CSRFError) -> ResponseReturnValue:
    """The response to a missing or invalid CSRF token, or to a request after signing out."""
    return signed_out() if signed_in_as() is None else refuse_http(error)


def refuse_http(error: HTTPException) -> ResponseReturnValue:
    """The JSON response to HTTP errors of the framework, and to server errors."""
    status = error.code or 500
    words = error_pages.EXPLANATIONS.get(status) or error_pages.TITLES.get(status) or error.name
    return refusal(status, str(words))


def signed_out() -> ResponseReturnValue:
    """The response to guests; the script keeps unsent acts and sends them after signing in."""
    return refusal(SIGNED_OUT, gettext("You are signed out. Sign in again to go on."))


def answer(
    judge: JudgeHere,
    sent: Sent,
    turn: Turn,
    documents: Sequence[ShownDocument],
    counted: Counted | None,
    stopped: str | None,
) -> Response:
    """The response to a request with acts."""
    stored = turn.recorded
    refused = [*sent.refused, *((one.id, one.error) for one in stored.refused)]
    answered = {
        "person": judge.id,
        "epoch": database_epoch(),
        "acknowledged": stored.acknowledged,
        "refused": [refused_json(id_, error) for id_, error in refused],
        "judged": list(turn.judged),
        "documents": [document_json(document) for document in documents],
        "counts": vars(counted.counts if counted else NOTHING),
        "guidelines": judge.guidelines,
        "answers": judge.answers,
        "clarifications": judge.clarifications,
        "stopped": stopped,
    }
    return as_json(answered, _status(stored, refused))


def who(judge: JudgeHere) -> dict[str, object]:
    """The signed-in person and a CSRF token, as JSON values."""
    return {"person": judge.id, "name": judge.name, "csrf": generate_csrf()}


def one_part(document: ShownDocument, part: int) -> Response:
    """One part of a document, counted from 1, in the rendering of `?as=`; with `?find=`, where those words occur."""
    parts = parts_of(document, asked_rendering())
    words = asked_word("find", "")[:LONGEST_FOUND]
    if words:
        return as_json({"found": occurrences_in(parts, words)})
    if not 1 <= part <= len(parts):
        raise NotFoundError("This document has no part %(part)d.", part=part)
    return as_json({"html": parts[part - 1], "parts": len(parts)})


def asked_rendering() -> Rendering | None:
    """The rendering of `?as=`; None for the usual one."""
    written = asked_word("as", "")
    return Rendering(written) if written in set(Rendering) else None


def drawn(turn: Turn, sent: Sent) -> tuple[Sequence[ShownDocument], str | None]:
    """The documents of a turn, and the reason when there can be none."""
    if isinstance(turn.stopped, NotFoundError) or (isinstance(turn.stopped, BusyError) and not sent.holds):
        raise turn.stopped
    if isinstance(turn.stopped, ConflictError):
        return [], say(turn.stopped.sentence)
    # When the database was busy, the next response has them.
    return turn.documents, None


def _chosen(judge: JudgeHere, slug: str, number: str, sent: Sent) -> tuple[Sequence[ShownDocument], str | None]:
    """Draw documents of an adaptive pool, chosen by all judgements including those of this request.

    The judgements are stored already, whatever happens here.
    """
    try:
        while True:
            has_chosen = choose_if_few(slug, number, judge.id)
            documents = database().attempt(
                lambda session: judging.more_documents(session, slug, number, judge.id, holds=sent.holds, now=now())
            )
            if documents or sent.holds or not has_chosen:
                return documents, None
    except ConflictError as refusal:
        return [], say(refusal.sentence)
    except BusyError:
        # The next response has them; a browser without documents asks again, and repeated acts are stored once.
        if not sent.holds:
            raise
        return [], None


def _count(judge: JudgeHere, slug: str, number: str, at: datetime) -> Counted:
    to_come = choices_to_come(slug, judge.id).get(number, 0) if judge.is_adaptive else 0
    with database().reading() as session:
        return judging_turn.count_topic(session, slug, number, judge.id, to_come=to_come, now=at)


def database_epoch() -> str:
    """The epoch of the database, which browsers compare with that of their page."""
    if database() not in EPOCHS:
        with database().reading() as session:
            EPOCHS[database()] = judge_desk.database_epoch(session)
    return EPOCHS[database()]


def _memory() -> judging_turn.Memory:
    return COUNTS.setdefault(database(), judging_turn.Memory())


def as_json(value: object, status: int = 200) -> Response:
    """Compact JSON, as most of it is text outside ASCII."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Response(text, status, mimetype="application/json")


def refused_json(id_: str, error: AnnotatorError) -> dict[str, object]:
    """A refused act, with the reason in the reader's language."""
    return {"id": id_, "status": error_pages.status_of(error), "sentence": say(error.sentence)}


def _status(stored: Recorded, refused: list[tuple[str, AnnotatorError]]) -> int:
    """The status of the first rejected act if nothing was stored, otherwise 200."""
    return error_pages.status_of(refused[0][1]) if refused and not stored.acknowledged else 200


def install(protocol: Blueprint) -> None:
    """Register JSON error handlers on a blueprint of the script."""
    protocol.after_request(compressed)
    protocol.register_error_handler(AnnotatorError, refuse)
    protocol.register_error_handler(CSRFError, refuse_token)
    protocol.register_error_handler(HTTPException, refuse_http)


install(blueprint)
