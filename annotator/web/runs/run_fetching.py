"""Runs from search engines: a form, whose run a worker fetches, or which is saved as a source of runs."""

from flask import Blueprint, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, IntegerField, SelectChoice, SelectField, StringField, TextAreaField
from wtforms.validators import InputRequired, NumberRange, Optional

from annotator.evaluation.runs.search_engines import (
    GREATEST_DEPTH,
    USUAL_DEPTH,
    Dialect,
    HitPaths,
    SearchEngine,
)
from annotator.storage import Role
from annotator.storage.runs.runs import RunDetails
from annotator.web.runs.runs import DetailsForm
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import actor
from annotator.web.site.background import JOB_KIND, arrived_at, leave_form, work
from annotator.web.site.context import database, engine_access, now, settings
from annotator.web.site.forms import unix_lines
from annotator.web.site.language import lazy_gettext
from annotator.workflows.runs import run_fetching, run_sources
from annotator.workflows.runs.run_fetching import RunOrder
from annotator.workflows.runs.run_sources import HOURS, SourceSettings

blueprint = Blueprint("run_fetching", __name__)

PLAIN_TEXT = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}


def dialect_choices() -> list[SelectChoice]:
    """The dialects; those of engines by the names of the engines."""
    return [
        SelectChoice(Dialect.OPENSEARCH.value, "OpenSearch"),
        SelectChoice(Dialect.ELASTICSEARCH.value, "Elasticsearch"),
        SelectChoice(Dialect.SOLR.value, "Solr"),
        SelectChoice(Dialect.JSON.value, lazy_gettext("Any other address that answers JSON")),
    ]


def hour_choices() -> list[SelectChoice]:
    """No hour, and those of a day."""
    return [
        SelectChoice("", lazy_gettext("not by itself")),
        *(SelectChoice(str(one), f"{one:02}:00 UTC") for one in HOURS),
    ]


class FetchForm(DetailsForm):
    """A search engine, what it is asked, and the run that its hits become."""

    endpoint = StringField(
        lazy_gettext("Address of the search"),
        [InputRequired()],
        description=lazy_gettext("The address that takes a query. Its host is one that an administrator has named."),
        render_kw={**PLAIN_TEXT, "placeholder": "https://search.example.org/news/_search"},
    )
    dialect = SelectField(lazy_gettext("Engine"), choices=dialect_choices)
    query = TextAreaField(
        lazy_gettext("Template of the query"),
        filters=[unix_lines],
        description=lazy_gettext(
            "A JSON body if it begins with a brace, otherwise parameters such as q={query}&defType=edismax. The title "
            "of each topic takes the place of {query}, the number of hits that of {depth}."
        ),
        render_kw={**PLAIN_TEXT, "rows": 4, "placeholder": '{"query": {"match": {"body": "{query}"}}}'},
    )
    depth = IntegerField(
        lazy_gettext("Hits for a topic"),
        [InputRequired(), NumberRange(1, GREATEST_DEPTH)],
        default=USUAL_DEPTH,
        description=lazy_gettext("The most that the engine is asked for."),
    )
    paths = TextAreaField(
        lazy_gettext("Paths into the answer"),
        filters=[unix_lines],
        description=lazy_gettext(
            "Only where the answer differs from what the engine usually sends, a line each: hits=, docno=, score=, "
            "title= and body=, such as docno=_source.id. Without scores the order of the hits counts."
        ),
        render_kw={**PLAIN_TEXT, "rows": 3},
    )
    texts = BooleanField(
        lazy_gettext("Store the texts of the hits, too"),
        description=lazy_gettext(
            "As an import of documents does: a text that differs replaces the one that is stored."
        ),
    )
    tag = StringField(lazy_gettext("Tag"), [InputRequired()], render_kw=PLAIN_TEXT)
    team = StringField(lazy_gettext("Team"), description=lazy_gettext("The team of the runs; optional."))
    priority = IntegerField(
        lazy_gettext("Priority"),
        [Optional()],
        description=lazy_gettext("1 = pooled first (default). A replaced run keeps its priority."),
    )
    replaces = BooleanField(
        lazy_gettext("Replace the run with this tag"), description=lazy_gettext("The older file is kept.")
    )

    name = StringField(
        lazy_gettext("Name of the source"),
        description=lazy_gettext("Small letters, digits, “-”, “_” and “.”; only to save the source."),
        render_kw={**PLAIN_TEXT, "placeholder": "news-bm25"},
    )
    hour = SelectField(
        lazy_gettext("Every day"),
        choices=hour_choices,
        default="",
        description=lazy_gettext("A worker then fetches a run at this hour. When it was down, it does so once."),
    )

    def details(self) -> RunDetails:
        """The details as entered; for a replaced run, empty fields keep the stored values."""
        given = super().details()
        return RunDetails(
            given.team, given.description or None, given.run_type or None, given.priority, task=given.task
        )

    def order(self) -> RunOrder:
        """What is fetched; raises `InvalidValueError` for malformed paths."""
        return RunOrder(self._engine(), self.tag.data.strip(), self.details(), replaces=self.replaces.data)

    def settings(self) -> SourceSettings:
        """What a source asks; raises as `order`."""
        hour = int(self.hour.data) if self.hour.data else None
        return SourceSettings(self._engine(), self.tag.data.strip(), self.details(), hour)

    def _engine(self) -> SearchEngine:
        return SearchEngine(
            self.endpoint.data.strip(),
            (self.query.data or "").strip(),
            Dialect(self.dialect.data),
            HitPaths.parse(line for line in (self.paths.data or "").split("\n") if line.strip()),
            self.depth.data,
            with_texts=self.texts.data,
        )


@blueprint.get("/collections/<slug>/runs/fetch")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The form, and the sources that were saved."""
    return fetch_page(slug, FetchForm(formdata=None))


@blueprint.post("/collections/<slug>/runs/fetch")
@collection_page(Role.ORGANISER)
def fetch(slug: str) -> ResponseReturnValue:
    """Fetch a run, and show its receipt; a worker asks the engine, after the form was checked."""
    form = FetchForm()
    if form.validate():
        with form.guard():
            if (at_work := work()) is None:
                database().read(run_fetching.check_order, slug, form.order(), engine_access())
                return leave_form(slug)
            sent_at = arrived_at()
            run_fetching.fetch_run(
                database(),
                slug,
                form.order(),
                engine_access(),
                actor=actor(),
                at=sent_at,
                noted_at=now(),
                unpacked_limit=settings().unpacked_limit,
                progress=at_work.tell,
            )
            return redirect(url_for("run.receipt", slug=slug, at=sent_at.isoformat()), 303)
    return fetch_page(slug, form), form.status


def fetch_page(slug: str, form: FetchForm) -> str:
    """The page with this form."""
    sources = database().read(run_sources.list_sources, slug)
    return render_template("runs/fetch.html", form=form, allowed=settings().outgoing_hosts, sources=sources)


setattr(fetch, JOB_KIND, "run_fetching.fetch")
