"""The list of collections, the overview of one, and its settings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flask import Blueprint, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, IntegerField, RadioField, SelectChoice, StringField, TextAreaField
from wtforms.validators import InputRequired, Optional

from annotator.storage import Role
from annotator.storage.tables.collections import CollectionKind
from annotator.web.collections import overview
from annotator.web.collections.announcements import news_for_reader
from annotator.web.collections.judging_hours import more_judging, settings_confirmation
from annotator.web.collections.observer_policy import (
    is_adjudicated,
    judge_of,
    policy_of,
    rule_choices,
    rule_of,
    rule_or_judge_choices,
)
from annotator.web.people.senders import sender_state
from annotator.web.site import context
from annotator.web.site.access import administrator_page, collection_page, signed_in_page
from annotator.web.site.adaptive import choices_to_come
from annotator.web.site.audit_note import note
from annotator.web.site.context import current_person, database, now, the_person, the_place
from annotator.web.site.forms import Form, NumberField, done, is_confirmed, unix_lines
from annotator.web.site.labels import COLLECTION_KINDS
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.memories import days_memory, kept_report, what_waits
from annotator.web.site.query_string import asked_word, number_or
from annotator.workflows.agreement import own_work
from annotator.workflows.collections import collection, restoring
from annotator.workflows.collections.collection import CollectionChange, CollectionSize, CollectionView, Guidelines
from annotator.workflows.collections.collection_list import page_of_collections
from annotator.workflows.collections.queue_settings import QueueChange, foresee_queue
from annotator.workflows.documents import documents
from annotator.workflows.judging import judging, preparation, questions
from annotator.workflows.judging.judging_pace import judging_pace
from annotator.workflows.people import members
from annotator.workflows.people.members import MemberRow
from annotator.workflows.pools import pools
from annotator.workflows.pools.pool_holes import holes_report
from annotator.workflows.pools.pools import TopicProgress

blueprint = Blueprint("collection", __name__)

DIGITS = 6  # of the number of a page
# What somebody has who creates a collection.
QUERIES, TASK = "queries", "task"
# Where people begin who have these roles and organise nothing, the first role first.
FIRST_PAGES = {Role.JUDGE: "judging.topics", Role.ADJUDICATOR: "adjudicating.topics"}
FIRST_SCALE = lazy_gettext("0=Not relevant\n1=Relevant\n2=Highly relevant")


def kind_choices() -> list[SelectChoice]:
    """The types of collections, with what each is for."""
    about = {
        CollectionKind.SHARED_TASK: gettext("teams send runs, and get scores when you release them."),
        CollectionKind.COMPARISON: gettext("you compare the result lists of your own systems."),
    }
    return [SelectChoice(kind.value, f"{COLLECTION_KINDS[kind]}: {text}") for kind, text in about.items()]


class CollectionFields(Form):
    """The fields of a new collection that organisers may change later."""

    title = StringField(lazy_gettext("Title"), [InputRequired()])
    scale = TextAreaField(
        lazy_gettext("Scale"),
        [InputRequired()],
        filters=[unix_lines],
        description=lazy_gettext(
            "One grade per line, such as “1=Relevant” or “1=Relevant | It answers a part”. The number is "
            "the key that gives the grade, from 0 to 9."
        ),
        render_kw={"rows": 5},
    )
    relevant_from = IntegerField(
        lazy_gettext("Relevant from grade"),
        [InputRequired()],
        description=lazy_gettext("Binary measures count this grade and higher as relevant."),
    )
    judgements_wanted = IntegerField(
        lazy_gettext("Judgements per document"),
        [InputRequired()],
        description=lazy_gettext("How many judges see each document of the pool."),
    )
    consensus_policy = RadioField(
        lazy_gettext("Consensus policy"),
        [InputRequired()],
        choices=rule_choices,
        description=lazy_gettext("How the grades of several judges are merged into one for the qrels."),
    )


class SettingsForm(CollectionFields):
    """The settings of an existing collection."""

    kind = RadioField(
        lazy_gettext("Type"),
        [InputRequired()],
        choices=kind_choices,
        description=lazy_gettext("It changes the words of the pages and which pages the menu shows, nothing else."),
    )

    consensus_policy = RadioField(
        lazy_gettext("Consensus policy"),
        [InputRequired()],
        choices=rule_or_judge_choices,
        description=lazy_gettext("How the grades of several judges are merged into one for the qrels."),
    )
    one_judge = StringField(
        lazy_gettext("One judge"),
        description=lazy_gettext("The name of the judge, for the last of these policies."),
        render_kw={"autocapitalize": "none", "spellcheck": "false"},
    )
    adjudicated = BooleanField(
        lazy_gettext("Adjudicators decide"),
        description=lazy_gettext("The grade of an adjudicator decides; the policy settles all other documents."),
    )
    leaves_out_disputed = BooleanField(
        lazy_gettext("Leave out disputed documents"),
        description=lazy_gettext(
            "Documents on which judges differ stay out of the qrels and the scores until an adjudicator "
            "decides. Otherwise the policy settles them."
        ),
    )
    shows_grades = BooleanField(
        lazy_gettext("Adjudicators see the grades"),
        description=lazy_gettext(
            "Adjudicators see which grades were given, but not by whom. Otherwise they decide blind."
        ),
    )
    counts_machines = BooleanField(
        lazy_gettext("Include machine judges in the qrels"),
        description=lazy_gettext(
            "Grades of machine judges enter the qrels together with those of people. Otherwise they are only compared."
        ),
    )
    judges_search = BooleanField(
        lazy_gettext("Judges may search"),
        description=lazy_gettext(
            "Judges may search the corpus and judge what they find; these documents join the pool."
        ),
    )
    pay_per_hour = NumberField(
        lazy_gettext("Pay per hour"),
        [Optional()],
        description=lazy_gettext(
            "Optional: what a judge costs per hour. The price is then shown beside every number of hours, to "
            "organisers only."
        ),
        render_kw={"min": 0, "step": "any"},
    )
    pay_currency = StringField(
        lazy_gettext("Currency"),
        filters=[lambda text: (text or "").strip().upper()],
        description=lazy_gettext("Three letters, such as EUR."),
        render_kw={"maxlength": 3, "size": 4, "spellcheck": "false"},
    )
    judges_compare = BooleanField(
        lazy_gettext("Judges may compare"),
        description=lazy_gettext(
            "Beside a document judges may open their own grades and notes of similar documents and of those they "
            "called relevant in the topic, never those of others."
        ),
    )
    judges_highlight = BooleanField(
        lazy_gettext("Words are highlighted"),
        description=lazy_gettext(
            "Words of the topic, and words that a judge chooses, are highlighted in documents. Switch it off when the "
            "guidelines ask judges to read without such help."
        ),
    )


class CollectionForm(CollectionFields):
    """The first step of a new collection: what there is already; all but the title has a default."""

    kind = RadioField(lazy_gettext("Type"), choices=kind_choices, default=CollectionKind.SHARED_TASK.value)
    have = RadioField(
        lazy_gettext("What you have"),
        default=QUERIES,
        choices=[
            SelectChoice(QUERIES, lazy_gettext("Queries or topics, perhaps result lists; judging is still to come")),
            SelectChoice(
                TASK, lazy_gettext("A finished task: runs, qrels and topics, whose leaderboard you want to see")
            ),
        ],
    )
    slug = StringField(
        lazy_gettext("Short name"),
        description=lazy_gettext(
            "Small letters, digits, “-”, “_” and “.”. It is part of addresses and cannot be changed. Empty: made from "
            "the title."
        ),
        render_kw={"autocapitalize": "none"},
    )


@blueprint.get("/")
def home() -> ResponseReturnValue:
    """Redirect to the list of the person's collections; a judge of one collection to what waits there."""
    reader = current_person()
    roles = database().read(members.roles_everywhere, reader.id) if reader and not reader.administrator else {}
    if len(roles) == 1:
        slug, held = next(iter(roles.items()))
        page = next((page for role, page in FIRST_PAGES.items() if role in held), None)
        if page is not None and Role.ORGANISER not in held:
            return redirect(url_for(page, slug=slug), 303)
    return redirect(url_for(".list_all"), 303)


@blueprint.get("/collections")
@signed_in_page
def list_all() -> ResponseReturnValue:
    """The person's collections; all of them for an administrator."""
    return _list()


@blueprint.get("/new-collection")
@administrator_page
def new() -> ResponseReturnValue:
    """The first step of the guided path to a collection."""
    return _new()


@blueprint.post("/collections")
@administrator_page
def add() -> ResponseReturnValue:
    """Create a collection, with its creator as first organiser, and go on to its topics or its files."""
    form, slug = CollectionForm(), ""
    if form.validate():
        with form.guard(), database().transaction() as session:
            slug = collection.add_collection(
                session,
                form.slug.data or None,
                title=form.title.data,
                kind=CollectionKind(form.kind.data),
                scale=collection.read_scale(form.scale.data),
                relevant_from=form.relevant_from.data,
                judgements_wanted=form.judgements_wanted.data,
                consensus_policy=policy_of(form.consensus_policy.data, adjudicated=True, judge=""),
                organiser=the_person().name,
                added_at=now(),
            )
            note(session, "collections.add", slug, details={"kind": CollectionKind(form.kind.data)})
    if form.refused:
        return _new(form), form.status
    to = "first_steps.task" if form.have.data == TASK else "first_steps.topics"
    return done(gettext("Collection created. Next steps are below."), to, slug=slug)


@blueprint.get("/collections/<slug>")
@collection_page()
def show(slug: str) -> ResponseReturnValue:
    """The overview of a collection: progress and next steps for organisers, their own part for others."""
    return _organisers_view(slug) if the_place().organises else _members_view(slug)


@blueprint.get("/collections/<slug>/few-judged")
@collection_page(Role.ORGANISER)
def few_judged(slug: str) -> ResponseReturnValue:
    """A line for the overview: runs with few judged documents. The page loads it later, as it takes up to a second."""
    found = kept_report(
        slug, (holes_report, overview.TOP), lambda session: holes_report(session, slug, (overview.TOP,))
    )
    return render_template("collections/collection/_need.html", need=overview.few_judged(found))


@blueprint.get("/collections/<slug>/settings")
@collection_page(Role.ORGANISER)
def settings(_slug: str) -> ResponseReturnValue:
    """The form with the settings of a collection."""
    return render_template("collections/collection/settings.html", form=_filled_form())


@blueprint.post("/collections/<slug>/settings")
@collection_page(Role.ORGANISER)
def change(slug: str) -> ResponseReturnValue:
    """Store changed settings, after confirmation if they add judging work."""
    form = SettingsForm()
    if form.validate():
        with form.guard():
            change = _change(the_place().collection, form)
            if not is_confirmed() and (more := more_judging(slug, change)) is not None:
                return settings_confirmation(more)
            wanted = change.judgements_wanted
            foreseen = database().read(foresee_queue, slug, QueueChange(), judgements_wanted=wanted)
            with database().transaction() as session:
                collection.change_collection(session, slug, change, foreseen=foreseen)
                note(session, "collections.set", slug, details=vars(change))
    if form.refused:
        return render_template("collections/collection/settings.html", form=form), form.status
    return done(gettext("Settings saved."), ".settings", slug=slug)


@blueprint.post("/collections/<slug>/close")
@collection_page(Role.ORGANISER)
def close(slug: str) -> ResponseReturnValue:
    """Close the collection for imports and judging."""
    with database().transaction() as session:
        collection.close_collection(session, slug)
        note(session, "collections.close", slug)
    return done(gettext("Collection closed. Its pages and exports remain available."), ".settings", slug=slug)


@blueprint.post("/collections/<slug>/reopen")
@collection_page(Role.ORGANISER)
def reopen(slug: str) -> ResponseReturnValue:
    """Reopen the collection for imports and judging."""
    with database().transaction() as session:
        collection.reopen_collection(session, slug)
        note(session, "collections.reopen", slug)
    return done(gettext("Collection reopened."), ".settings", slug=slug)


def _new(form: CollectionForm | None = None) -> str:
    blank = CollectionForm(
        formdata=None, scale=str(FIRST_SCALE), relevant_from=1, judgements_wanted=1, consensus_policy="majority-first"
    )
    return render_template("collections/collection/new.html", form=form or blank)


def _list() -> str:
    person = the_person()
    visible_to = None if person.administrator else person.id
    text = asked_word("q", "")
    with database().reading() as session:
        found = page_of_collections(session, visible_to, text, number_or("page", 1, digits=DIGITS))
        everywhere = members.roles_everywhere(session, person.id)
        roles = {one.slug: everywhere[one.slug] for one in found.collections if one.slug in everywhere}
        deleted = restoring.list_deleted_collections(
            session, days=context.settings().deletion_days, organised_by=visible_to
        )
        judged = [slug for slug, held in roles.items() if Role.JUDGE in held]
        adaptive = own_work.adaptive_collections(session, judged)
    to_come = {slug: choices_to_come(slug, person.id) for slug in adaptive}
    with database().reading() as session:
        work = own_work.own_work(session, person.id, roles, now=now(), to_come=to_come)
    # The first button with something behind it has the focus.
    waiting = (slug for slug in roles if slug in work and (work[slug].documents or work[slug].disputes))
    return render_template(
        "collections/collection/list.html",
        found=found,
        text=text,
        roles=roles,
        deleted=deleted,
        work=work,
        first=next(waiting, None),
    )


def _organisers_view(slug: str) -> str:
    waits = what_waits(slug)
    with database().reading() as session:
        size = collection.collection_size(session, slug)
        progress = pools.pool_progress(session, slug)
        pace = judging_pace(session, slug, progress, now=now(), memory=days_memory())
        steps = checklist(
            size,
            collection.show_guidelines(session, slug),
            members.list_members(session, slug),
            progress,
            missing=documents.count_missing_documents(session, slug),
            has_deadline=the_place().collection.submissions_until is not None,
        )
    return render_template(
        "collections/collection/overview.html",
        size=size,
        progress=progress,
        pace=pace,
        steps=steps,
        needs=overview.needs(waits, pace),
        days=overview.days_drawn(pace),
        stages=overview.stages(progress, waits),
    )


def _members_view(slug: str) -> str:
    work, answers = [], 0
    if the_place().judges:
        to_come = choices_to_come(slug)
        with database().transaction() as session:  # a transaction, because expired leases are released here
            work = judging.topics_to_judge(session, slug, the_person().id, now=now(), to_come=to_come)
        answers = database().read(questions.count_new_answers, slug, the_person().id)
    with database().reading() as session:
        preparations = preparation.preparations_of(session, slug, the_person().id)
    sends = the_place().participates and not the_place().collection.closed
    sending = sender_state(slug) if sends else None
    return render_template(
        "collections/collection/for_members.html",
        work=work,
        answers=answers,
        sending=sending,
        preparations=preparations,
        **news_for_reader(slug),
    )


def _filled_form() -> SettingsForm:
    shown = the_place().collection
    return SettingsForm(
        title=shown.title,
        kind=shown.kind,
        scale=collection.write_scale(shown.scale),
        relevant_from=shown.relevant_from,
        judgements_wanted=shown.judgements_wanted,
        consensus_policy=rule_of(shown.consensus_policy),
        one_judge=judge_of(shown.consensus_policy),
        adjudicated=is_adjudicated(shown.consensus_policy),
        leaves_out_disputed=shown.leaves_out_disputed,
        shows_grades=shown.shows_grades,
        counts_machines=shown.counts_machines,
        judges_search=shown.judges_search,
        pay_per_hour=shown.pay_per_hour,
        pay_currency=shown.pay_currency,
        judges_compare=shown.judges_compare,
        judges_highlight=shown.judges_highlight,
    )


def _change(present: CollectionView, form: SettingsForm) -> CollectionChange:
    """The changed settings only: an unchanged scale or number must not be rewritten for the whole pool."""
    scale = collection.read_scale(form.scale.data)
    wanted = form.judgements_wanted.data
    policy = policy_of(form.consensus_policy.data, adjudicated=form.adjudicated.data, judge=form.one_judge.data or "")
    pay = form.pay_per_hour.data or 0.0, form.pay_currency.data if form.pay_per_hour.data else ""
    pays_otherwise = pay != (present.pay_per_hour or 0.0, present.pay_currency)
    return CollectionChange(
        title=form.title.data,
        kind=CollectionKind(form.kind.data),
        scale=scale if scale != present.scale else None,
        relevant_from=form.relevant_from.data,
        judgements_wanted=wanted if wanted != present.judgements_wanted else None,
        consensus_policy=policy if policy != present.consensus_policy else None,
        judges_search=form.judges_search.data,
        judges_compare=form.judges_compare.data,
        judges_highlight=form.judges_highlight.data,
        counts_machines=form.counts_machines.data,
        shows_grades=form.shows_grades.data,
        leaves_out_disputed=form.leaves_out_disputed.data,
        pay_per_hour=pay[0] if pays_otherwise else None,
        pay_currency=pay[1] if pays_otherwise else None,
    )


@dataclass(frozen=True)
class Step:
    """A step of the checklist, its page, and whether it is the first open one."""

    words: str
    endpoint: str
    done: bool
    comes_next: bool


def checklist(
    size: CollectionSize,
    guidelines: Guidelines,
    members: Sequence[MemberRow],
    progress: Sequence[TopicProgress],
    *,
    missing: int,
    has_deadline: bool,
) -> list[Step]:
    """The steps from an empty collection to a fully judged one, in order.

    `missing` documents of the pool have no text; `has_deadline` is whether there is a deadline for runs.
    """
    items = sum(topic.items for topic in progress)
    complete = sum(topic.complete for topic in progress)
    of_a_task = the_place().collection.kind is CollectionKind.SHARED_TASK
    rules = (
        (gettext("Write guidelines for the judges"), "guidelines.show", guidelines.number > 0),
        (gettext("Set the submission deadline"), "submissions.show", size.runs > 0 or has_deadline),
    )
    steps = (
        (gettext("Import the topics"), "first_steps.topics", size.topics > 0),
        *(rules if of_a_task else ()),
        (gettext("Upload the runs"), "first_steps.runs", size.runs > 0),
        (gettext("Plan the pool and build it"), "first_steps.pool", items > 0),
        (gettext("Import the texts of the pooled documents"), "documents.show", items > 0 and not missing),
        (gettext("Appoint judges"), "first_steps.judges", any(member.role == Role.JUDGE for member in members)),
        (gettext("Judge the pool"), "pools.show", 0 < items == complete),
    )
    return list(_mark_next(steps))


def _mark_next(steps: Sequence[tuple[str, str, bool]]) -> Iterator[Step]:
    found = False
    for words, endpoint, is_done in steps:
        yield Step(words, endpoint, is_done, comes_next=not is_done and not found)
        found = found or not is_done
