"""The topics of a collection: import, draft, accept, drop and restore them; topics flagged for dropping."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileRequired, MultipleFileField
from wtforms import BooleanField, StringField, TextAreaField
from wtforms.validators import InputRequired

from annotator.errors import AnnotatorError, ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.formats.input_formats import Holds
from annotator.evaluation.leaderboard.leaderboard_making import DroppingEffect
from annotator.evaluation.metrics.names import DEFAULT_MEASURES, OFFERED_MEASURES
from annotator.evaluation.qrels.topic_flags import TOO_RELEVANT_PERCENT
from annotator.storage import Role, TopicState
from annotator.web.site.access import collection_page
from annotator.web.site.adaptive import choices_to_come
from annotator.web.site.addresses import came_from
from annotator.web.site.audit_note import note
from annotator.web.site.background import long_form
from annotator.web.site.context import database, settings, the_place
from annotator.web.site.downloads import JSON_LINES, download
from annotator.web.site.error_pages import status_of
from annotator.web.site.forms import Form, done, unix_lines
from annotator.web.site.input_formats import format_field, report_formats
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.memories import score_cache, settled_memory
from annotator.web.site.uploads import input_files, names_of
from annotator.workflows.leaderboard import leaderboard
from annotator.workflows.qrels.flagged_topics import flagged_topics
from annotator.workflows.topics import topic_editing, topic_trying, topics
from annotator.workflows.topics.topic_editing import TopicWords
from annotator.workflows.topics.topics import TopicRow

blueprint = Blueprint("topics", __name__)


class TopicsForm(Form):
    """The form for uploading topics."""

    files = MultipleFileField(
        lazy_gettext("Files of topics"),
        [FileRequired()],
        description=lazy_gettext(
            "Lines of number, tab, title; TREC SGML or XML; tables, JSON or Parquet; also compressed. An existing "
            "topic takes the new text, unless it was judged."
        ),
    )
    input_format = format_field(Holds.TOPICS)
    draft = BooleanField(
        lazy_gettext("As drafts"),
        description=lazy_gettext("Drafts are shown to organisers only and are not pooled until you accept them."),
    )


class WordsForm(Form):
    """The text of a topic."""

    title = StringField(
        lazy_gettext("Title"), [InputRequired()], description=lazy_gettext("The query as a user would type it.")
    )
    description = TextAreaField(
        lazy_gettext("Description"),
        filters=[unix_lines],
        description=lazy_gettext("The information need, in one sentence."),
        render_kw={"rows": 2},
    )
    narrative = TextAreaField(
        lazy_gettext("Narrative"),
        filters=[unix_lines],
        description=lazy_gettext("What makes a document relevant and what does not. Judges follow it."),
        render_kw={"rows": 4},
    )
    language = StringField(
        lazy_gettext("Language"),
        description=lazy_gettext("Language of the topic, such as “ko”; optional."),
        render_kw={"autocapitalize": "none"},
    )

    def words(self) -> TopicWords:
        """The text that was entered."""
        return TopicWords(
            self.title.data, self.description.data or "", self.narrative.data or "", self.language.data or None
        )


class DraftForm(WordsForm):
    """A draft with its topic number."""

    number = StringField(
        lazy_gettext("Number"),
        [InputRequired()],
        description=lazy_gettext("One word, as used in runs and qrels."),
        render_kw={"autocomplete": "off", "autocapitalize": "none"},
    )


@dataclass(frozen=True)
class Effect:
    """The effect of dropping topics, or the reason why there is none."""

    found: DroppingEffect | None
    refusal: AnnotatorError | None = None


@blueprint.get("/collections/<slug>/topics")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def show(slug: str) -> ResponseReturnValue:
    """All topics; participants see those that are, or were, part of the task."""
    return _page(slug, TopicsForm(), DraftForm())


@blueprint.post("/collections/<slug>/topics")
@collection_page(Role.ORGANISER)
@long_form("topics.add")
def add(slug: str) -> ResponseReturnValue:
    """Import topics."""
    form = TopicsForm()
    if form.validate():
        with form.guard():
            files = input_files(form.files.data, form.input_format.data)
            read = topics.read_topics(files, unpacked_limit=settings().unpacked_limit)
            state = TopicState.DRAFT if form.draft.data else TopicState.ACCEPTED
            with database().transaction() as session:
                stored = topics.import_topics(session, slug, read, state=state, most=settings().topic_limit)
                note(session, "topics.import", slug, subject=names_of(form.files.data), details=vars(stored))
    if form.refused:
        return _page(slug, form, DraftForm(formdata=None)), form.status
    report_formats(Holds.TOPICS, files)
    return done(
        gettext(
            "Topics added: %(added)d, reworded: %(changed)d, unchanged: %(unchanged)d.",
            added=stored.added,
            changed=stored.changed,
            unchanged=stored.unchanged,
        ),
        ".show",
        slug=slug,
    )


@blueprint.get("/collections/<slug>/topics.jsonl")
@collection_page(Role.ORGANISER, Role.PARTICIPANT)
def as_jsonl(slug: str) -> ResponseReturnValue:
    """The accepted topics as JSON Lines."""
    return download(topics.topics_jsonl(_rows(slug)), f"{slug}-topics.jsonl", JSON_LINES)


@blueprint.post("/collections/<slug>/topic")
@collection_page(Role.ORGANISER)
def draft(slug: str) -> ResponseReturnValue:
    """Create a draft, and go on to try it."""
    form = DraftForm()
    if form.validate():
        with form.guard(), database().transaction() as session:
            topic_editing.add_draft(session, slug, form.number.data.strip(), form.words())
            note(session, "topics.add", slug, subject=form.number.data.strip())
    if form.refused:
        return _page(slug, TopicsForm(formdata=None), form), form.status
    return done(
        gettext("Draft saved. Only organisers see it."), "topic.show", slug=slug, number=form.number.data.strip()
    )


@blueprint.post("/collections/<slug>/topic/accept")
@collection_page(Role.ORGANISER)
def accept(slug: str) -> ResponseReturnValue:
    """Accept drafts as topics of the task."""
    with database().transaction() as session:
        accepted = topic_editing.accept_topics(session, slug, request.form.getlist("numbers"))
        note(session, "topics.accept", slug, subject=", ".join(accepted))
    flash(gettext("Topics accepted: %(count)d. They join the pool when it is built next.", count=len(accepted)))
    return _back(slug)


@blueprint.post("/collections/<slug>/topic/drop")
@collection_page(Role.ORGANISER)
def drop(slug: str) -> ResponseReturnValue:
    """Drop topics, with one reason."""
    with database().transaction() as session:
        dropped = topic_editing.drop_topics(
            session, slug, request.form.getlist("numbers"), reason=request.form.get("reason", "")
        )
        note(session, "topics.drop", slug, subject=", ".join(dropped), details={"reason": request.form.get("reason")})
    flash(gettext("Topics dropped: %(count)d. Their judgements stay.", count=len(dropped)))
    return _back(slug)


@blueprint.post("/collections/<slug>/topic/restore")
@collection_page(Role.ORGANISER)
def restore(slug: str) -> ResponseReturnValue:
    """Restore dropped topics."""
    with database().transaction() as session:
        restored = topic_editing.restore_topics(session, slug, request.form.getlist("numbers"))
        note(session, "topics.restore", slug, subject=", ".join(restored))
    flash(gettext("Topics restored: %(count)d.", count=len(restored)))
    return _back(slug)


def _back(slug: str) -> ResponseReturnValue:
    # Without the query string: it may refer to the previous state of a topic.
    return redirect(urlsplit(came_from() or "").path or url_for(".show", slug=slug), 303)


def _rows(slug: str) -> list[TopicRow]:
    with database().reading() as session:
        return topics.list_topics(session, slug) if the_place().organises else topics.published_topics(session, slug)


def _page(slug: str, form: TopicsForm, draft_form: DraftForm) -> str:
    rows = _rows(slug)
    if not the_place().organises:
        return render_template("topics/published.html", rows=rows)
    to_come = choices_to_come(slug)
    with database().reading() as session:
        flagged = flagged_topics(session, slug, to_come=to_come, memory=settled_memory())
        tallies = topic_trying.look_tallies(session, slug)
    return render_template(
        "topics/list.html",
        rows=rows,
        flags={flag.topic.number: flag for flag in flagged},
        tallies=tallies,
        form=form,
        draft_form=draft_form,
    )


@blueprint.get("/collections/<slug>/topic-flags")
@collection_page(Role.ORGANISER)
def flags(slug: str) -> ResponseReturnValue:
    """The flagged topics, and the effect of dropping those selected (`?numbers=7&m=AP`) or all that are certain."""
    to_come = choices_to_come(slug)
    flagged = database().read(flagged_topics, slug, to_come=to_come, memory=settled_memory())
    measure = request.args.get("m", "").strip() or DEFAULT_MEASURES[0]
    chosen = request.args.getlist("numbers")
    if not chosen and "m" not in request.args:
        chosen = [flag.topic.number for flag in flagged if flag.is_final]
    effect = _effect_of_dropping(slug, measure, chosen)
    # Missing data to compare are not an error of the request.
    is_possible = effect.refusal is None or isinstance(effect.refusal, ConflictError)
    page = render_template(
        "topics/flags.html",
        flagged=flagged,
        chosen=chosen,
        measure=measure,
        reason=request.args.get("reason", ""),
        offered=OFFERED_MEASURES,
        too_relevant_percent=TOO_RELEVANT_PERCENT,
        effect=effect,
    )
    return page if effect.refusal is None or is_possible else (page, status_of(effect.refusal))


def _effect_of_dropping(slug: str, measure: str, chosen: Sequence[str]) -> Effect:
    if not chosen:
        return Effect(None)
    try:
        board = database().read(leaderboard.build_leaderboard, slug, [measure], cache=score_cache())
        return Effect(leaderboard.effect_on_leaderboard(board, chosen))
    except (InvalidValueError, NotFoundError, ConflictError) as refusal:
        return Effect(None, refusal)
