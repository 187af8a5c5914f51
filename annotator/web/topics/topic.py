"""One topic: its text, its status, and trying out a draft by looking at documents."""

from dataclasses import dataclass

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import HiddenField, RadioField
from wtforms.validators import InputRequired

from annotator.errors import AnnotatorError, InvalidValueError, NotFoundError
from annotator.storage import Role, TopicState
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, now, the_person
from annotator.web.site.error_pages import status_of
from annotator.web.site.forms import Form, done
from annotator.web.site.language import gettext
from annotator.web.topics.topics import WordsForm
from annotator.workflows.documents import search
from annotator.workflows.topics import topic_editing, topic_trying
from annotator.workflows.topics.topic_editing import TopicView
from annotator.workflows.topics.topic_trying import MOST_LOOKED_AT, Glance, LookTally

blueprint = Blueprint("topic", __name__)


class LookForm(Form):
    """A first impression of a document's relevance."""

    number = HiddenField(validators=[InputRequired()])
    docno = HiddenField(validators=[InputRequired()])
    looks = RadioField(choices=["yes", "no"], validators=[InputRequired()])


@dataclass(frozen=True)
class Trial:
    """The query or run by which a draft is tried, and its documents; or the reason why there are none."""

    query: str
    tag: str
    glances: list[Glance]
    refusal: AnnotatorError | None = None


@blueprint.get("/collections/<slug>/topics/<path:number>")
@collection_page(Role.ORGANISER)
def show(slug: str, number: str) -> ResponseReturnValue:
    """A topic; a draft is tried with the first documents of a search (`?q=`) or a run (`?run=`)."""
    return _page(slug, number, None)


@blueprint.post("/collections/<slug>/topics/<path:number>")
@collection_page(Role.ORGANISER)
def change(slug: str, number: str) -> ResponseReturnValue:
    """Change the text of a topic."""
    form = WordsForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            topic_editing.change_words(session, slug, number, form.words())
            note(session, "topics.edit", slug, subject=number)
    if form.refused:
        return _page(slug, number, form)
    return done(gettext("Topic %(number)s saved.", number=number), ".show", slug=slug, number=number)


@blueprint.post("/collections/<slug>/topic/look")
@collection_page(Role.ORGANISER)
def look(slug: str) -> ResponseReturnValue:
    """Store the impression of a document: a script gets the new count, a form goes on to the next document."""
    form = LookForm()
    if not form.validate():
        raise InvalidValueError("A quick look marks a document of a topic as looking relevant or not.")
    number = form.number.data
    with database().transaction() as session:
        topic_trying.record_look(
            session,
            slug,
            number,
            form.docno.data,
            looks_relevant=form.looks.data == "yes",
            looked_by_id=the_person().id,
            looked_at=now(),
        )
    if "fragment" in request.form:
        return render_template("topics/_tallies.html", tallies=_tallies(slug, number))
    query, tag = request.form.get("q") or None, request.form.get("run") or None
    following = url_for(".show", slug=slug, number=number, q=query, run=tag, _anchor=request.form.get("next"))
    return redirect(following, 303)


def _page(slug: str, number: str, form: WordsForm | None) -> ResponseReturnValue:
    with database().reading() as session:
        topic = topic_editing.show_topic(session, slug, number)
        tags = topic_trying.runs_to_try(session, slug, number)
    trial = _trial(slug, topic)
    page = render_template(
        "topics/one.html",
        topic=topic,
        form=form or WordsForm(formdata=None, obj=topic.words),
        tags=tags,
        trial=trial,
        any_word=search.any_word_of(topic.words.title),
        tallies=_tallies(slug, number),
    )
    if form is not None:
        return page, form.status
    return page, status_of(trial.refusal) if trial.refusal else 200


def _trial(slug: str, topic: TopicView) -> Trial:
    query, tag = request.args.get("q", "").strip(), request.args.get("run", "")
    if topic.state != TopicState.DRAFT or not (query or tag):
        return Trial(query, tag, [])
    try:
        with database().reading() as session:
            if query:
                found = search.find_documents(session, slug, query, most=MOST_LOOKED_AT)
                docnos = [hit.docno for hit in found.hits]
            else:
                docnos = topic_trying.top_of_run(session, slug, topic.number, tag)
            return Trial(query, tag, topic_trying.glance_at(session, slug, topic.number, docnos, the_person().id))
    except (InvalidValueError, NotFoundError) as refusal:
        return Trial(query, tag, [], refusal)


def _tallies(slug: str, number: str) -> list[LookTally]:
    """The person's own tally first, then those of others."""
    with database().reading() as session:
        tallies = topic_trying.look_tallies(session, slug).get(number, [])
    return sorted(tallies, key=lambda tally: tally.person != the_person().name)
