"""What the judging screen's script calls: acts go in, documents come out; every answer is JSON, refusals too."""

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
from annotator.web.judging.judging_acts import Sent, read_sent
from annotator.web.judging.judging_documents import document_json, parts_of
from annotator.web.serving.compression import compressed
from annotator.web.site import error_pages
from annotator.web.site.adaptive import choices_to_come, choose_if_few
from annotator.web.site.context import database, now
from annotator.web.site.json_answers import SIGNED_OUT, refusal, sent_json
from annotator.web.site.language import gettext
from annotator.web.site.sessions import signed_in_as
from annotator.web.site.translate import say
from annotator.workflows.judging import judge_access, judging, judging_turn
from annotator.workflows.judging.judge_access import JudgeHere
from annotator.workflows.judging.judging_turn import NOTHING, Counted, Turn, submit
from annotator.workflows.judging.recording import Recorded

blueprint = Blueprint("judging_protocol", __name__)

# Documents are sent when the browser has fewer left, so that one answer in four brings some.
REFILLED_BELOW = 5
# What this process has counted.
COUNTS: WeakKeyDictionary[Database, judging_turn.Memory] = WeakKeyDictionary()

JsonView = Callable[..., ResponseReturnValue]


def let_in(role: Role) -> Callable[[JsonView], JsonView]:
    """Let those with a role in the collection in, as the view's first argument; others are refused in JSON."""

    def decorate(view: JsonView) -> JsonView:
        @wraps(view)
        def guarded(slug: str, **values: Any) -> ResponseReturnValue:  # noqa: ANN401 - whatever the address holds
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
    """Store what the judge did, each act by itself, and send documents when few are left in the browser."""
    sent = read_sent(sent_json())
    at = now()
    known = _memory().of(slug, number, judge.id, at)
    draws = sent.draws and len(sent.holds) < REFILLED_BELOW
    holds = sent.holds if draws and not judge.is_adaptive else None
    turn = database().attempt(
        lambda session: submit(session, slug, number, judge.id, sent.acts, holds=holds, known=known, at=at)
    )
    stored, counted = turn.recorded, turn.counted
    try:
        documents, stopped = _chosen(judge, slug, number, sent) if draws and judge.is_adaptive else drawn(turn, sent)
        if counted is None or counted.counts.put_off:
            # Documents that were put off may have come back.
            counted = _count(judge, slug, number, at)
        _memory().keep(slug, number, judge.id, counted)
    except NotFoundError as no_topic:
        if not stored.acknowledged:
            raise
        # What is stored is acknowledged, whatever else went wrong.
        documents, stopped, counted = [], say(no_topic.sentence), None
    return answer(judge, sent, stored, documents, counted, stopped)


@blueprint.get("/collections/<slug>/judge/session")
@for_judges
def session_now(judge: JudgeHere, slug: str) -> ResponseReturnValue:  # noqa: ARG001 - the guard has used it
    """Who is signed in, with a token for what is sent next."""
    return who(judge)


@blueprint.get("/collections/<slug>/judge/assignments/<row:assignment_id>.json")
@for_judges
def document(judge: JudgeHere, slug: str, assignment_id: int) -> ResponseReturnValue:
    """One of the judge's own documents, with their judgement of it and the assignment judged before it."""
    with database().reading() as session:
        shown, previous = judging.open_document(session, slug, assignment_id, judge.id)
    return as_json(document_json(shown, previous))


@blueprint.get("/collections/<slug>/judge/assignments/<row:assignment_id>/parts/<row:part>")
@for_judges
def document_part(judge: JudgeHere, slug: str, assignment_id: int, part: int) -> ResponseReturnValue:
    """A part of one of the judge's own documents, from 1."""
    with database().reading() as session:
        shown, _ = judging.open_document(session, slug, assignment_id, judge.id)
    return one_part(shown, part)


def refuse(error: AnnotatorError) -> ResponseReturnValue:
    """What a workflow refuses."""
    return refusal(error_pages.status_of(error), say(error.sentence))


def refuse_token(error: CSRFError) -> ResponseReturnValue:
    """A POST without the token of this session; who has signed out has none, and gets that answer."""
    return signed_out() if signed_in_as() is None else refuse_http(error)


def refuse_http(error: HTTPException) -> ResponseReturnValue:
    """What the framework refuses, and faults."""
    status = error.code or 500
    words = error_pages.EXPLANATIONS.get(status) or error_pages.TITLES.get(status) or error.name
    return refusal(status, str(words))


def signed_out() -> ResponseReturnValue:
    """The refusal for guests: nothing is lost, it is sent when they have signed in."""
    return refusal(SIGNED_OUT, gettext("You are signed out. Sign in again to go on."))


def answer(
    judge: JudgeHere,
    sent: Sent,
    stored: Recorded,
    documents: Sequence[ShownDocument],
    counted: Counted | None,
    stopped: str | None,
) -> Response:
    """What the script gets for its acts."""
    refused = [*sent.refused, *((one.id, one.error) for one in stored.refused)]
    answered = {
        "person": judge.id,
        "acknowledged": stored.acknowledged,
        "refused": [_refused(id_, error) for id_, error in refused],
        "documents": [document_json(document) for document in documents],
        "counts": vars(counted.counts if counted else NOTHING),
        "guidelines": judge.guidelines,
        "answers": judge.answers,
        "stopped": stopped,
    }
    return as_json(answered, _status(stored, refused))


def who(judge: JudgeHere) -> dict[str, object]:
    """A person for the script, with a token for what is sent next."""
    return {"person": judge.id, "name": judge.name, "csrf": generate_csrf()}


def one_part(document: ShownDocument, part: int) -> Response:
    """A part of a document, from 1."""
    parts = parts_of(document)
    if not 1 <= part <= len(parts):
        raise NotFoundError("This document has no part %(part)d.", part=part)
    return as_json({"html": parts[part - 1]})


def drawn(turn: Turn, sent: Sent) -> tuple[Sequence[ShownDocument], str | None]:
    """The documents of a turn, and why there are none when something stands against it."""
    if isinstance(turn.stopped, NotFoundError) or (isinstance(turn.stopped, BusyError) and not sent.holds):
        raise turn.stopped
    if isinstance(turn.stopped, ConflictError):
        return [], say(turn.stopped.sentence)
    # When the database was busy, the next answer brings them.
    return turn.documents, None


def _chosen(judge: JudgeHere, slug: str, number: str, sent: Sent) -> tuple[Sequence[ShownDocument], str | None]:
    """Draw where a strategy chooses by the judgements, those of this request included.

    The judgements are stored already, and stay so whatever happens here.
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
        # The next answer brings them; a browser that has none left asks again, and what it sends again is stored once.
        if not sent.holds:
            raise
        return [], None


def _count(judge: JudgeHere, slug: str, number: str, at: datetime) -> Counted:
    to_come = choices_to_come(slug, judge.id).get(number, 0) if judge.is_adaptive else 0
    with database().reading() as session:
        return judging_turn.count_topic(session, slug, number, judge.id, to_come=to_come, now=at)


def _memory() -> judging_turn.Memory:
    return COUNTS.setdefault(database(), judging_turn.Memory())


def as_json(value: object, status: int = 200) -> Response:
    """JSON as short as it goes, most of it text that is no English."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Response(text, status, mimetype="application/json")


def _refused(id_: str, error: AnnotatorError) -> dict[str, object]:
    return {"id": id_, "status": error_pages.status_of(error), "sentence": say(error.sentence)}


def _status(stored: Recorded, refused: list[tuple[str, AnnotatorError]]) -> int:
    """That of the first refusal when nothing was stored at all."""
    return error_pages.status_of(refused[0][1]) if refused and not stored.acknowledged else 200


def install(protocol: Blueprint) -> None:
    """Let a blueprint of the script's answer everything in JSON, refusals and faults too."""
    protocol.after_request(compressed)
    protocol.register_error_handler(AnnotatorError, refuse)
    protocol.register_error_handler(CSRFError, refuse_token)
    protocol.register_error_handler(HTTPException, refuse_http)


install(blueprint)
