"""Stepping through lists of documents in the judging screen: for organisers to read, for adjudicators to decide.

A list keeps its filter in the query string. `?in=` and `?docno=` are the document, `?at=` its position in the list.
"""

from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from flask import Blueprint, flash, make_response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import generate_csrf
from markupsafe import Markup
from wtforms import HiddenField, IntegerField, TextAreaField
from wtforms.validators import InputRequired

from annotator.errors import NotFoundError
from annotator.storage import Role
from annotator.storage.agreement.review_lists import ItemKey, ReviewedJudgement
from annotator.storage.judging.leases import Decision
from annotator.web.agreement.review_lists import ListName, ReviewList, asked_disputes, asked_list
from annotator.web.judging.judging import Part
from annotator.web.judging.judging_documents import document_json, parts_of, scale_json, words_json
from annotator.web.judging.judging_protocol import one_part
from annotator.web.serving.compression import compressed
from annotator.web.site import json_answers
from annotator.web.site.access import collection_page
from annotator.web.site.context import database, now, the_person, the_place
from annotator.web.site.forms import Form, unix_lines
from annotator.web.site.labels import CANNOT_JUDGE
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.query_string import number_or
from annotator.web.site.translate import say
from annotator.workflows.agreement import review
from annotator.workflows.agreement.deciding import decide_disagreement
from annotator.workflows.agreement.review import Reviewed
from annotator.workflows.judging.act_decisions import LONGEST_NOTE

blueprint = Blueprint("review", __name__)
blueprint.after_request(compressed)
json_answers.install(blueprint, {"show", "show_disputes"})

DIGITS = 6
LISTS = ", ".join(f"'{name}'" for name in ListName)


class ReviewForm(Form):
    """An adjudicator's decision; the grade is the button that was pressed."""

    grade = IntegerField(validators=[InputRequired()])
    client_id = HiddenField(validators=[InputRequired()])
    note = TextAreaField(lazy_gettext("Note"), filters=[unix_lines], render_kw={"rows": 3, "maxlength": LONGEST_NOTE})


@blueprint.get(f"/collections/<slug>/review/<any({LISTS}):name>")
@collection_page(Role.ORGANISER)
def show(slug: str, name: str) -> ResponseReturnValue:
    """A document of a list with all judgements of it; the other arguments are the filter of the list."""
    listed = asked_list(slug, name)
    return _screen(slug, listed, _opened(slug, listed))


@blueprint.get(f"/collections/<slug>/review/<any({LISTS}):name>.json")
@collection_page(Role.ORGANISER)
def document(slug: str, name: str) -> ResponseReturnValue:
    """The same document for the script."""
    listed = asked_list(slug, name)
    return _reviewed_json(slug, listed, _opened(slug, listed))


@blueprint.get("/collections/<slug>/review/parts/<row:part>")
@collection_page(Role.ORGANISER)
def document_part(slug: str, part: int) -> ResponseReturnValue:
    """One part of a document in the pool, counted from 1."""
    key = _asked_key()
    if key is None:
        raise NotFoundError("No matching documents.")
    with database().reading() as session:
        shown = review.reviewed_text(session, slug, key)
    return one_part(shown, part)


@blueprint.get("/collections/<slug>/adjudicate/review")
@collection_page(Role.ADJUDICATOR)
def show_disputes(slug: str) -> ResponseReturnValue:
    """A document of those in dispute for this adjudicator, or decided by them, of `?topic=` or of all topics."""
    listed = asked_disputes(slug)
    return _screen(slug, listed, _opened(slug, listed))


@blueprint.get("/collections/<slug>/adjudicate/review.json")
@collection_page(Role.ADJUDICATOR)
def dispute(slug: str) -> ResponseReturnValue:
    """The same document for the script."""
    listed = asked_disputes(slug)
    return _reviewed_json(slug, listed, _opened(slug, listed))


@blueprint.get("/collections/<slug>/adjudicate/review/parts/<row:part>")
@collection_page(Role.ADJUDICATOR)
def dispute_part(slug: str, part: int) -> ResponseReturnValue:
    """One part of such a document, counted from 1."""
    return one_part(_opened(slug, asked_disputes(slug)).document, part)


@blueprint.post("/collections/<slug>/adjudicate/review")
@collection_page(Role.ADJUDICATOR)
def decide(slug: str) -> ResponseReturnValue:
    """Decide on a document as in the queue, and go on to the next one; a script is sent the document instead."""
    form, listed = ReviewForm(), asked_disputes(slug)
    one = _opened(slug, listed)
    if form.validate():
        with form.guard(), database().transaction() as session:
            decide_disagreement(
                session,
                slug,
                *one.key,
                the_person().id,
                Decision(form.grade.data, None, form.note.data or ""),
                client_id=form.client_id.data,
                decided_at=now(),
            )
    if "fragment" in request.form:
        if form.refused:
            return json_answers.refusal(form.status, _refusal(form))
        return _reviewed_json(slug, listed, _opened(slug, listed))
    if form.refused:
        return _screen(slug, listed, one, form)
    flash(gettext("Decided: %(docno)s is %(grade)s.", docno=one.key.docno, grade=form.grade.data))
    following = one.following or one.key
    return redirect(listed.url(slug, following, (one.position or 0) + (one.following is not None)), 303)


def _refusal(form: ReviewForm) -> str:
    return say(form.refusal.sentence) if form.refusal else gettext("This is not a grade of the scale.")


def _asked_key() -> ItemKey | None:
    """The document of the query string."""
    topic, docno = request.args.get("in", ""), request.args.get("docno", "")
    return ItemKey(topic, docno) if topic and docno else None


def _opened(slug: str, listed: ReviewList) -> Reviewed:
    key, at = _asked_key(), number_or("at", 1, digits=DIGITS)
    with database().reading() as session:
        if listed.decides:
            return review.open_disputed(session, slug, listed.items, key, at, the_person().id)
        return review.open_reviewed(session, slug, listed.items, key, at)


def _screen(slug: str, listed: ReviewList, one: Reviewed, form: ReviewForm | None = None) -> ResponseReturnValue:
    """The document in the judging screen, and the initial data of its script."""
    parts = parts_of(one.document)
    number = min(max(number_or("part", 1, digits=DIGITS), 1), max(len(parts), 1))
    decision = one.document.judgement.decision if one.document.judgement else None
    page = render_template(
        "agreement/review.html",
        batch=_batch(slug, listed, one),
        listed=listed,
        one=one,
        decides=listed.decides and not the_place().collection.closed,
        form=form or ReviewForm(formdata=None, client_id=uuid4().hex, note=decision.note if decision else ""),
        part=Part(number, max(len(parts), 1), parts[number - 1] if parts else Markup()),
    )
    response = make_response(page, form.status if form is not None and form.refused else 200)
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def _batch(slug: str, listed: ReviewList, one: Reviewed) -> dict[str, Any]:
    """The initial data of the screen: the list, the scale and one document."""
    first = _reviewed_json(slug, listed, one)
    _, item, part = listed.views
    return {
        "person": the_person().id,
        "csrf": generate_csrf(),
        "urls": {
            "item": url_for(item, slug=slug, **listed.address),
            "parts": url_for(part, slug=slug, part=0, **listed.address).replace("/parts/0", "/parts/{part}"),
            "topics": url_for("judging.topics", slug=slug),
        },
        "topic": first["topic"],
        "scale": scale_json(),
        "reasons": {reason.value: str(words) for reason, words in CANNOT_JUDGE.items()},
        "documents": [first],
    }


def _reviewed_json(slug: str, listed: ReviewList, one: Reviewed) -> dict[str, Any]:
    """A document of a list; `assignment` identifies it in the addresses of the list."""
    # Those of the judge whose list it is come first.
    in_order = sorted(one.judgements, key=lambda each: each.judge != listed.judge)
    judgements = {} if listed.decides else {"notes": [_judgement_json(each) for each in in_order]}
    return {
        **document_json(one.document),
        "assignment": _key_text(one.key),
        "topic": {**vars(one.topic), "words": words_json(one.topic.words)},
        **judgements,
        "known": _known(one.known_grade),
        "position": one.position,
        "total": one.total,
        "previous": _key_text(one.previous),
        "next": _key_text(one.following),
        "page": listed.url(slug, one.key, one.position),
        "back": listed.page_of(one.position or 1),
    }


def _known(grade: int | None) -> str | None:
    """The sentence about a gold question; None for other documents."""
    if grade is None:
        return None
    names = {each.value: each.name for each in the_place().collection.scale}
    return gettext("This is a gold question. The right grade is: %(grade)s.", grade=names.get(grade, grade))


def _key_text(key: ItemKey | None) -> str | None:
    return None if key is None else urlencode({"in": key.topic, "docno": key.docno})


def _judgement_json(one: ReviewedJudgement) -> dict[str, Any]:
    decision = one.decision
    state = [gettext("decides")] if one.adjudicates else []
    return {
        "who": one.judge,
        "state": [*state, *([gettext("of the same text")] if one.is_carried else [])],
        "at": one.judged_at.isoformat(),
        "grade": decision.grade,
        "cannot_judge": decision.cannot_judge.value if decision.cannot_judge else None,
        "note": decision.note,
        "evidence": [passage._asdict() for passage in one.evidence],
    }
