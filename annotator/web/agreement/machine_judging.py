"""Machine judges that this site runs, for organisers: add a version, estimate and start a run, follow and cancel it."""

from flask import Blueprint, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, SelectField, StringField, TextAreaField
from wtforms.validators import InputRequired, Optional

from annotator.errors import AnnotatorError, InvalidValueError
from annotator.evaluation.agreement.topic_intervals import TWO_INTERVALS
from annotator.evaluation.machine_judging.tokens import Ceiling, Prices
from annotator.storage import MachineRunState, OutcomeKind, Role
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, model_access, now, the_person
from annotator.web.site.error_pages import page_or_refusal, status_of
from annotator.web.site.forms import Form, NumberField, WholeNumberField, confirmation, done, is_confirmed, unix_lines
from annotator.web.site.language import format_number, gettext, lazy_gettext
from annotator.web.site.memories import kept_report
from annotator.web.site.query_string import asked_list, number_given
from annotator.workflows.agreement import machine_runs, machine_setup
from annotator.workflows.agreement.machine_runs import TRIAL, RunEstimate, RunRequest
from annotator.workflows.agreement.machine_setup import MachineSettings, MachineVersion
from annotator.workflows.agreement.prompt_comparison import compare_versions

blueprint = Blueprint("machine_judging", __name__)

DOCUMENTS_SHOWN = 200
OWN = "own"
PLAIN_TEXT = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}
STATES = {
    MachineRunState.RUNNING: lazy_gettext("running"),
    MachineRunState.STOPPED: lazy_gettext("stopped"),
    MachineRunState.CANCELLED: lazy_gettext("cancelled"),
    MachineRunState.DONE: lazy_gettext("done"),
}
KINDS = {
    OutcomeKind.WITHOUT_GRADE: lazy_gettext("no valid grade"),
    OutcomeKind.FAILED: lazy_gettext("failed"),
    OutcomeKind.DEFERRED: lazy_gettext("tried again later"),
}


class MachineForm(Form):
    """A machine judge, or a further version of one."""

    name = StringField(
        lazy_gettext("Name"),
        [InputRequired()],
        description=lazy_gettext("The labels are those of the judge NAME-v1. A known name gets its next version."),
        render_kw=PLAIN_TEXT,
    )
    endpoint = StringField(
        lazy_gettext("Endpoint"),
        [InputRequired()],
        description=lazy_gettext("Of chat completions as OpenAI's API has them; the texts are sent there."),
        render_kw={**PLAIN_TEXT, "placeholder": "https://models.example.org/v1"},
    )
    model = StringField(lazy_gettext("Model"), [InputRequired()], render_kw=PLAIN_TEXT)
    prompt_name = SelectField(lazy_gettext("Prompt"))
    prompt = TextAreaField(
        lazy_gettext("A prompt of your own"),
        filters=[unix_lines],
        description=lazy_gettext(
            "With {topic_number}, {topic_title}, {topic_description}, {topic_narrative}, {document_title}, "
            "{document_text} and {scale}; other braces are doubled. A document's text is put between tags."
        ),
        render_kw={**PLAIN_TEXT, "rows": 6},
    )
    samples = WholeNumberField(
        lazy_gettext("Responses for each document"),
        [InputRequired()],
        description=lazy_gettext("Several vote; ties go to the lower grade."),
    )
    temperature = NumberField(lazy_gettext("Temperature"), [InputRequired()])
    text_tokens = WholeNumberField(lazy_gettext("Token limit of a text"), [InputRequired()])
    answer_tokens = WholeNumberField(lazy_gettext("Token limit of a response"), [InputRequired()])
    wants_probabilities = BooleanField(lazy_gettext("Request the probabilities of the grades"))
    parallel = WholeNumberField(lazy_gettext("Requests at the same time"), [InputRequired()])
    price_sent = NumberField(lazy_gettext("Price of a million tokens sent"), [Optional()])
    price_received = NumberField(lazy_gettext("Price of a million tokens received"), [Optional()])
    currency = StringField(lazy_gettext("Currency"), render_kw=PLAIN_TEXT)

    def fill(self, settings: MachineSettings) -> None:
        """Show these settings."""
        for name in ("endpoint", "model", "samples", "temperature", "text_tokens", "answer_tokens", "parallel"):
            self[name].data = getattr(settings, name)
        self.wants_probabilities.data = settings.wants_probabilities
        is_built_in = settings.prompt_name in machine_setup.built_in_names()
        self.prompt_name.data = settings.prompt_name if is_built_in else OWN
        self.prompt.data = "" if is_built_in else settings.prompt
        prices = settings.prices
        self.price_sent.data, self.price_received.data = prices.sent, prices.received
        self.currency.data = prices.currency

    def settings(self) -> MachineSettings:
        """The settings that were given; raises `InvalidValueError` for a prompt without a text."""
        is_own = self.prompt_name.data == OWN
        if is_own and not (self.prompt.data or "").strip():
            raise InvalidValueError("Write the prompt, or choose one that is built in.")
        return MachineSettings(
            self.endpoint.data.strip(),
            self.model.data.strip(),
            self.prompt_name.data,
            self.prompt.data if is_own else machine_setup.named_prompt(self.prompt_name.data),
            self.samples.data,
            self.temperature.data,
            self.text_tokens.data,
            self.answer_tokens.data,
            self.wants_probabilities.data,
            self.parallel.data,
            Prices(self.price_sent.data, self.price_received.data, (self.currency.data or "").strip()),
        )


class RunForm(Form):
    """The documents of a run, and its ceiling."""

    topics = StringField(
        lazy_gettext("Topics"), description=lazy_gettext("Commas between them; empty: all."), render_kw=PLAIN_TEXT
    )
    only_judged = BooleanField(lazy_gettext("Only documents that people have graded"))
    depth = WholeNumberField(
        lazy_gettext("Up to this rank of the runs"),
        [Optional()],
        description=lazy_gettext("All documents that runs have up to it, pooled or not. Empty: pooled documents."),
    )
    tried = WholeNumberField(
        lazy_gettext("Number of documents"),
        [Optional()],
        description=lazy_gettext("To try the prompt: first those that people have graded. Empty: all."),
    )
    most_tokens = WholeNumberField(lazy_gettext("Token limit"), [Optional()])
    most_cost = NumberField(lazy_gettext("Cost limit"), [Optional()])

    def wanted(self) -> RunRequest:
        """The run that is asked for."""
        topics = tuple(one.strip() for one in (self.topics.data or "").split(",") if one.strip())
        return RunRequest(
            topics or None, self.only_judged.data, self.depth.data, self.tried.data, ceiling=self.ceiling()
        )

    def ceiling(self) -> Ceiling:
        """The ceiling that was given."""
        return Ceiling(self.most_tokens.data, self.most_cost.data)


@blueprint.get("/collections/<slug>/machine-judges")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The machine judges with their versions, and the form that adds one; `?like=NAME` fills it in."""
    return _list_page(slug)


@blueprint.post("/collections/<slug>/machine-judges")
@collection_page(Role.ORGANISER)
def add(slug: str) -> ResponseReturnValue:
    """Add a machine judge, or a further version of one."""
    form = _machine_form()
    version = None
    if form.validate():
        with form.guard(), database().transaction() as session:
            version = machine_setup.add_version(
                session,
                slug,
                form.name.data.strip(),
                form.settings(),
                access=model_access(),
                by_id=the_person().id,
                at=now(),
            )
            note(session, "machines.add", slug, subject=version.judge, details=machine_setup.noted(version))
    if version is None:
        return _list_page(slug, form), form.status
    sentence = gettext("Added %(judge)s. Nothing was sent yet.", judge=version.judge)
    return done(sentence, ".one", slug=slug, name=version.name, version=version.number)


@blueprint.get("/collections/<slug>/machine-judges/<name>")
@collection_page(Role.ORGANISER)
def one(slug: str, name: str) -> ResponseReturnValue:
    """A version of a machine judge, `?version=2` or the newest: settings, runs, and documents without a label."""
    return _one_page(slug, name)


@blueprint.get("/collections/<slug>/machine-judges/<name>/compare")
@collection_page(Role.ORGANISER)
def compare(slug: str, name: str) -> ResponseReturnValue:
    """Two versions side by side with people: `?first=1&second=2&topics=401,402`."""
    found, refused = None, None
    versions = database().read(machine_setup.list_versions, slug, name)
    database().read(machine_setup.show_version, slug, name)  # there is none: not found
    first, second = number_given("first", least=1), number_given("second", least=1)
    topics = asked_list("topics")
    try:
        found = kept_report(
            slug,
            (compare_versions, name, first, second, topics),
            lambda session: compare_versions(session, slug, name, first, second, topics=topics or None),
        )
    except AnnotatorError as refusal:
        refused = refusal
    page = render_template(
        "agreement/machine_judging/compare.html",
        found=found,
        refused=refused,
        name=name,
        numbers=[version.number for version in versions],
        topics=request.args.get("topics", ""),
        most=DOCUMENTS_SHOWN,
        intervals=TWO_INTERVALS,
    )
    return page_or_refusal(page, refused)


@blueprint.post("/collections/<slug>/machine-judges/<name>/run")
@collection_page(Role.ORGANISER)
def run(slug: str, name: str) -> ResponseReturnValue:
    """Show what a run would take and where the texts go, and start it after a confirmation."""
    version = database().read(machine_setup.show_version, slug, name, _number())
    form = RunForm()
    if not form.validate():
        return _one_page(slug, name, form), form.status
    request_ = form.wanted()
    if not is_confirmed():
        try:
            estimate = database().read(machine_runs.estimate_run, slug, name, version.number, request_)
        except AnnotatorError as refusal:
            form.refusal = refusal
            return _one_page(slug, name, form), form.status
        return _confirmation(slug, version, estimate)
    with form.guard(), database().transaction() as session:
        started = machine_runs.start_run(session, slug, name, version.number, request_, by_id=the_person().id, at=now())
        details = {"documents": started.documents, "host": version.host}
        note(session, "machines.run", slug, subject=version.judge, details=details)
    if form.refused:
        return _one_page(slug, name, form), form.status
    sentence = gettext("A worker runs %(judge)s.", judge=version.judge)
    return done(sentence, ".one", slug=slug, name=name, version=version.number)


@blueprint.post("/collections/<slug>/machine-judges/<name>/continue")
@collection_page(Role.ORGANISER)
def go_on(slug: str, name: str) -> ResponseReturnValue:
    """Go on with the last run, with the ceiling that is given, or else the earlier one."""
    form = RunForm()
    continued = None
    if form.validate():
        ceiling = form.ceiling()
        with form.guard(), database().transaction() as session:
            continued = machine_runs.continue_run(
                session, slug, name, _number(), None if ceiling == Ceiling() else ceiling
            )
            note(session, "machines.continue", slug, subject=continued.judge)
    if continued is None:
        return _one_page(slug, name, form), form.status
    return done(gettext("A worker goes on with the run."), ".one", slug=slug, name=name, version=_number())


@blueprint.post("/collections/<slug>/machine-judges/<name>/cancel")
@collection_page(Role.ORGANISER)
def cancel(slug: str, name: str) -> ResponseReturnValue:
    """Cancel the run."""
    try:
        with database().transaction() as session:
            cancelled = machine_runs.cancel_run(session, slug, name, _number(), at=now())
            note(session, "machines.cancel", slug, subject=cancelled.judge)
    except AnnotatorError as refusal:
        database().read(machine_setup.show_version, slug, name, _number())  # there is none: not found
        return _one_page(slug, name, refused=refusal), status_of(refusal)
    sentence = gettext("The run is cancelled. Labels and responses stay, and it can be continued.")
    return done(sentence, ".one", slug=slug, name=name, version=_number())


def _number() -> int | None:
    return number_given("version", least=1)


def _machine_form(*, is_empty: bool = False) -> MachineForm:
    form = MachineForm(formdata=None) if is_empty else MachineForm()
    built_in = {"plain": gettext("plain"), "umbrela": gettext("after UMBRELA")}
    form.prompt_name.choices = [*built_in.items(), (OWN, gettext("a prompt of your own"))]
    return form


def _list_page(slug: str, form: MachineForm | None = None) -> str:
    versions = database().read(machine_setup.list_versions, slug)
    if form is None:
        like = request.args.get("like")
        form = _machine_form(is_empty=True)
        known = [version for version in versions if version.name == like]
        form.fill(known[-1].settings if known else MachineSettings("", ""))
        form.name.data = like if known else ""
    return render_template(
        "agreement/machine_judging/show.html",
        versions=versions,
        form=form,
        hosts=model_access().hosts,
        is_open=form.refused or "like" in request.args,
    )


def _one_page(slug: str, name: str, form: RunForm | None = None, *, refused: AnnotatorError | None = None) -> str:
    number = _number()
    view = database().read(machine_runs.view_machine, slug, name, number)
    versions = database().read(machine_setup.list_versions, slug, name)
    documents = database().read(
        machine_runs.documents_without_label, slug, name, view.version.number, most=DOCUMENTS_SHOWN
    )
    return render_template(
        "agreement/machine_judging/one.html",
        view=view,
        version=view.version,
        numbers=[one.number for one in versions],
        run=view.runs[0] if view.runs else None,
        documents=documents,
        form=form or RunForm(formdata=None),
        refused=refused,
        has_key=model_access().has_key(view.version.settings.endpoint),
        states=STATES,
        kinds=KINDS,
        trial=TRIAL,
    )


def _confirmation(slug: str, version: MachineVersion, estimate: RunEstimate) -> str:
    currency = version.settings.prices.currency
    figures = {
        gettext("Documents"): format_number(estimate.documents),
        gettext("Requests"): format_number(estimate.requests),
        gettext("Tokens sent, about"): format_number(estimate.tokens.sent),
        gettext("Tokens received, at most"): format_number(estimate.tokens.received),
    }
    if estimate.cost is not None:
        figures[gettext("Cost, at most about")] = f"{estimate.cost:.4f} {currency}".rstrip()
    notes = [
        gettext(
            "The topics and the texts of these documents leave this machine: they are sent to %(host)s.",
            host=version.host,
        )
    ]
    if estimate.stored:
        notes.append(
            gettext("Responses that are stored already and not requested again: %(count)d.", count=estimate.stored)
        )
    if estimate.without_text:
        notes.append(gettext("Documents without a text, which are left out: %(count)d.", count=estimate.without_text))
    if estimate.sampled < estimate.documents:
        notes.append(gettext("Estimated by the prompts of %(count)d documents.", count=estimate.sampled))
    return confirmation(
        gettext("Run %(judge)s", judge=version.judge),
        figures=figures,
        notes=notes,
        button=gettext("Send the texts"),
        back=url_for(".one", slug=slug, name=version.name, version=version.number),
    )
