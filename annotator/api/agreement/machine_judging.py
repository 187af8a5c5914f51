"""Machine judges that this site runs: list, add and show them, estimate, start, continue and cancel their runs."""

from dataclasses import asdict

from marshmallow import Schema, fields

from annotator.api.agreement.agreement import resource
from annotator.api.collections.audit import note
from annotator.api.site.access import ORGANISE, READ, caller
from annotator.api.site.door import Call, Gives, Takes, operation
from annotator.api.site.report_tables import ReportTable, report_table
from annotator.api.site.values import Moment, Text, counted, one_of, whole
from annotator.errors import InvalidValueError
from annotator.evaluation.machine_judging.tokens import Ceiling, Prices
from annotator.storage import MachineRunState, OutcomeKind
from annotator.web.site.context import database, model_access, now
from annotator.workflows.agreement import machine_runs, machine_setup
from annotator.workflows.agreement.machine_runs import MachineView, RunRequest, RunView
from annotator.workflows.agreement.machine_setup import MachineSettings, MachineVersion
from annotator.workflows.agreement.prompt_comparison import PROMPT_TABLES, compare_versions

PATH = "/collections/<slug>/machine-judges"
ONE = f"{PATH}/<name>"
USUAL = MachineSettings("", "")
SENT = {"description": "The price of a million tokens that are sent; null: not stated."}
RECEIVED = {"description": "The price of a million tokens that are received; null: not stated."}
MOST_TOKENS = {"description": "The run stops before it uses more tokens; null: no limit."}
MOST_COST = {"description": "The run stops before it costs more; null: no limit."}


class VersionQuery(Schema):
    """Which version."""

    version = counted(load_default=None, metadata={"description": "The number of the version; left out: the newest."})


class SettingsBody(Schema):
    """The settings of a machine judge."""

    endpoint = Text(
        required=True,
        metadata={"description": "The base address of an endpoint of chat completions; texts go there."},
    )
    model = Text(required=True, metadata={"description": "The name of the model at the endpoint."})
    prompt_name = Text(
        load_default=USUAL.prompt_name,
        metadata={"description": "A built-in prompt, plain or umbrela, or the name of the prompt that is given."},
    )
    samples = whole(load_default=USUAL.samples, metadata={"description": "Responses for each document, which vote."})
    temperature = fields.Float(load_default=USUAL.temperature, metadata={"description": "From 0 to 2."})
    text_tokens = whole(
        load_default=USUAL.text_tokens, metadata={"description": "Approximate token limit of a document's text."}
    )
    answer_tokens = whole(load_default=USUAL.answer_tokens, metadata={"description": "Token limit of a response."})
    wants_probabilities = fields.Boolean(
        load_default=False, metadata={"description": "Whether the probabilities of the grades are requested."}
    )
    parallel = whole(load_default=USUAL.parallel, metadata={"description": "Requests at the same time."})
    price_sent = fields.Float(load_default=None, allow_none=True, metadata=SENT)
    price_received = fields.Float(load_default=None, allow_none=True, metadata=RECEIVED)
    currency = Text(load_default="", metadata={"description": "The currency of the prices."})


class MachineBody(SettingsBody):
    """A machine judge, or a further version of one."""

    name = Text(required=True, metadata={"description": "Its name; the labels are those of the judge NAME-vN."})
    prompt = Text(
        load_default=None,
        allow_none=True,
        metadata={"description": "The template of the prompt; null: the built-in one of prompt_name."},
    )


class VersionAnswer(SettingsBody):
    """A version of a machine judge."""

    name = fields.String(required=True, metadata={"description": "The name of the machine judge."})
    version = fields.Integer(required=True, metadata={"description": "Numbered from 1."})
    judge = fields.String(required=True, metadata={"description": "The judge whose labels are this version's."})
    host = fields.String(required=True, metadata={"description": "The host to which texts are sent."})
    has_key = fields.Boolean(
        required=True, metadata={"description": "Whether the settings of the site name a key for this host."}
    )
    prompt = fields.String(required=True, metadata={"description": "The template of the prompt."})
    added_by = fields.String(
        required=True, allow_none=True, metadata={"description": "The account that added it; null: by command."}
    )
    added_at = Moment(required=True, metadata={"description": "When it was added, in UTC."})


class RunAnswer(Schema):
    """A run of a machine judge."""

    id = fields.Integer(required=True, metadata={"description": "The number of the run."})
    judge = fields.String(required=True, metadata={"description": "The judge whose labels it makes."})
    state = one_of(MachineRunState, required=True, metadata={"description": "A stopped or cancelled one can go on."})
    depth = fields.Integer(
        required=True, allow_none=True, metadata={"description": "The rank up to which; null: pooled documents."}
    )
    is_trial = fields.Boolean(required=True, metadata={"description": "Whether it has only some drawn documents."})
    documents = fields.Integer(required=True, metadata={"description": "The number of documents in all."})
    labelled = fields.Integer(required=True, metadata={"description": "Those that got a label."})
    without_grade = fields.Integer(
        required=True, metadata={"description": "Those without a response that has a valid grade."}
    )
    failed = fields.Integer(required=True, metadata={"description": "Those without a response."})
    requests = fields.Integer(required=True, metadata={"description": "Requests that were answered."})
    stored = fields.Integer(
        required=True, metadata={"description": "Requests that were not sent, as their responses were stored."}
    )
    tokens_sent = fields.Integer(
        required=True, attribute="used.sent", metadata={"description": "As the endpoint counts."}
    )
    tokens_received = fields.Integer(
        required=True, attribute="used.received", metadata={"description": "As the endpoint counts."}
    )
    cost = fields.Float(required=True, allow_none=True, metadata={"description": "By the prices; null: not stated."})
    remaining_cost = fields.Float(
        required=True, allow_none=True, metadata={"description": "Of the rest, about; null: unknown."}
    )
    documents_an_hour = fields.Integer(
        required=True, allow_none=True, metadata={"description": "The pace while it runs; null: unknown."}
    )
    seconds_left = fields.Integer(
        required=True, allow_none=True, metadata={"description": "At this pace; null: unknown."}
    )
    problem = fields.String(required=True, metadata={"description": "Why it stopped or pauses; empty: it does not."})
    paused_until = Moment(
        required=True, allow_none=True, metadata={"description": "Until when the endpoint is left alone."}
    )
    started_by = fields.String(
        required=True, allow_none=True, metadata={"description": "The account that started it; null: by command."}
    )
    started_at = Moment(required=True, metadata={"description": "When it was started, in UTC."})
    finished_at = Moment(required=True, allow_none=True, metadata={"description": "When it ended; null: it has not."})


class MachineAnswer(VersionAnswer):
    """A version of a machine judge with its latest runs."""

    runs = fields.List(fields.Nested(RunAnswer), required=True, metadata={"description": "Newest first."})


class RunBody(Schema):
    """Which documents a run is about, and where it stops."""

    topics = fields.List(Text, load_default=list, metadata={"description": "Only these topics; none: all."})
    only_judged = fields.Boolean(
        load_default=False, metadata={"description": "Only documents that people have graded."}
    )
    depth = whole(
        load_default=None,
        allow_none=True,
        metadata={"description": "All documents that runs have up to this rank; null: pooled ones."},
    )
    tried = whole(
        load_default=None,
        allow_none=True,
        metadata={"description": "The number of documents, first those that people have graded; null: all."},
    )
    seed = whole(load_default=machine_runs.USUAL_SEED, metadata={"description": "Draws those documents."})
    most_tokens = whole(load_default=None, allow_none=True, metadata=MOST_TOKENS)
    most_cost = fields.Float(load_default=None, allow_none=True, metadata=MOST_COST)


class CeilingBody(Schema):
    """A further ceiling of the whole run; both null: the earlier one."""

    most_tokens = whole(load_default=None, allow_none=True, metadata=MOST_TOKENS)
    most_cost = fields.Float(load_default=None, allow_none=True, metadata=MOST_COST)


class EstimateAnswer(Schema):
    """What a run would take."""

    documents = fields.Integer(required=True, metadata={"description": "Documents with a text."})
    without_text = fields.Integer(required=True, metadata={"description": "Documents that are left out."})
    requests = fields.Integer(required=True, metadata={"description": "Requests that would be sent."})
    stored = fields.Integer(required=True, metadata={"description": "Those whose responses are stored."})
    tokens_sent = fields.Integer(required=True, attribute="tokens.sent", metadata={"description": "An estimate."})
    tokens_received = fields.Integer(
        required=True, attribute="tokens.received", metadata={"description": "The most that it can be."}
    )
    cost = fields.Float(required=True, allow_none=True, metadata={"description": "At most about; null: no prices."})
    sampled = fields.Integer(
        required=True, metadata={"description": "The documents whose prompts were made for the estimate."}
    )


class OutcomeAnswer(Schema):
    """A document that a machine judge was asked about without getting a label."""

    topic = fields.String(required=True, metadata={"description": "The number of the topic."})
    docno = fields.String(required=True)
    kind = one_of(OutcomeKind, required=True, metadata={"description": "A deferred one is tried again in the run."})
    reason = fields.String(required=True, attribute="problem", metadata={"description": "Why it has no label."})
    response = fields.String(
        required=True, allow_none=True, metadata={"description": "The response as it came; null: there is none."}
    )
    attempts = fields.Integer(required=True, metadata={"description": "How often it failed."})
    next_at = Moment(required=True, allow_none=True, metadata={"description": "When it is tried again; null: never."})


class ComparisonQuery(Schema):
    """Which versions, and which table."""

    first = counted(
        load_default=None, metadata={"description": "The number of a version; left out: the one before the second."}
    )
    second = counted(
        load_default=None, metadata={"description": "The number of another version; left out: the newest."}
    )
    topic = fields.List(Text, load_default=list, metadata={"description": "Only this topic; repeatable."})
    by = one_of(
        PROMPT_TABLES,
        load_default="version",
        metadata={
            "description": (
                "Which table: a row for each version with its agreement with people, for each pair of grades, or for "
                "each document whose grade changed."
            )
        },
    )


@operation(resource, "GET", PATH, READ, Gives(VersionAnswer, many=True), Takes(pages=True))
def list_machine_judges(call: Call) -> object:
    """List the machine judges that this site runs, each with its versions."""
    return [_version(one) for one in database().read(machine_setup.list_versions, call.slug)]


@operation(resource, "POST", PATH, ORGANISE, Gives(VersionAnswer, status=201), Takes(body=MachineBody))
def add_machine_judge(call: Call) -> object:
    """Add a machine judge, or a further version of one; nothing is sent yet."""
    given = dict(call.body)
    name, prompt = given.pop("name"), given.pop("prompt")
    prices = Prices(given.pop("price_sent"), given.pop("price_received"), given.pop("currency"))
    text = machine_setup.named_prompt(given["prompt_name"]) if prompt is None else prompt
    if prompt is not None and given["prompt_name"] in machine_setup.built_in_names():
        raise InvalidValueError(
            "“%(name)s” is the name of a built-in prompt: give this one another name.", name=given["prompt_name"]
        )
    settings = MachineSettings(**given, prompt=text, prices=prices)
    with database().transaction() as session:
        version = machine_setup.add_version(
            session, call.slug, name, settings, access=model_access(), by_id=caller().id, at=now()
        )
        note(session, "machines.add", call.slug, subject=version.judge, details=machine_setup.noted(version))
    return _version(version)


@operation(resource, "GET", ONE, READ, Gives(MachineAnswer), Takes(query=VersionQuery))
def show_machine_judge(call: Call) -> object:
    """Show a version of a machine judge with its latest runs: progress, pace and remaining cost."""
    view = database().read(machine_runs.view_machine, call.slug, *_which(call))
    return _machine(view)


@operation(
    resource,
    "POST",
    f"{ONE}/estimate",
    ORGANISE,
    Gives(EstimateAnswer),
    Takes(query=VersionQuery, body=RunBody),
)
def estimate_machine_run(call: Call) -> object:
    """Estimate the requests, tokens and cost of a run; nothing is sent or stored."""
    return database().read(machine_runs.estimate_run, call.slug, *_which(call), _request(call))


@operation(
    resource, "POST", f"{ONE}/runs", ORGANISE, Gives(RunAnswer, status=201), Takes(query=VersionQuery, body=RunBody)
)
def run_machine_judge(call: Call) -> object:
    """Have a worker ask the model about pooled documents, whose texts are sent to the endpoint."""
    name, number = _which(call)
    version = database().read(machine_setup.show_version, call.slug, name, number)
    with database().transaction() as session:
        started = machine_runs.start_run(
            session, call.slug, name, version.number, _request(call), by_id=caller().id, at=now()
        )
        details = {"documents": started.documents, "host": version.host}
        note(session, "machines.run", call.slug, subject=version.judge, details=details)
    return _run(started)


@operation(resource, "POST", f"{ONE}/continue", ORGANISE, Gives(RunAnswer), Takes(query=VersionQuery, body=CeilingBody))
def continue_machine_run(call: Call) -> object:
    """Go on with the last run, which was stopped or cancelled, where it was."""
    ceiling = Ceiling(call.body["most_tokens"], call.body["most_cost"])
    with database().transaction() as session:
        continued = machine_runs.continue_run(
            session, call.slug, *_which(call), None if ceiling == Ceiling() else ceiling
        )
        note(session, "machines.continue", call.slug, subject=continued.judge)
    return _run(continued)


@operation(resource, "POST", f"{ONE}/cancel", ORGANISE, Gives(RunAnswer), Takes(query=VersionQuery))
def cancel_machine_run(call: Call) -> object:
    """Cancel the run: no further request is sent; labels and responses stay."""
    with database().transaction() as session:
        cancelled = machine_runs.cancel_run(session, call.slug, *_which(call), at=now())
        note(session, "machines.cancel", call.slug, subject=cancelled.judge)
    return _run(cancelled)


@operation(
    resource,
    "GET",
    f"{ONE}/unlabelled",
    READ,
    Gives(OutcomeAnswer, many=True),
    Takes(query=VersionQuery, pages=True),
)
def list_unlabelled(call: Call) -> object:
    """List the documents without a label of this machine judge, with the response as it came."""
    rows = database().read(machine_runs.documents_without_label, call.slug, *_which(call))
    return [{**row._asdict(), "problem": str(row.problem)} for row in rows]


@operation(resource, "GET", f"{ONE}/comparison", READ, Gives(ReportTable), Takes(query=ComparisonQuery))
def compare_machine_versions(call: Call) -> object:
    """Compare two versions with people, on the documents that both labelled: kappa, confusion, changed grades."""
    asked = call.query
    found = database().read(
        compare_versions,
        call.slug,
        call.path["name"],
        asked["first"],
        asked["second"],
        topics=tuple(asked["topic"]) or None,
    )
    headings, rows = PROMPT_TABLES[asked["by"]]
    about = {
        "first": found.first.version.judge,
        "second": found.second.version.judge,
        "grades": found.grades,
        "common": found.common,
        "changed": len(found.changed),
        "nearer": found.nearer,
        "further": found.further,
    }
    return report_table(asked["by"], (headings, rows(found)), about=about)


def _which(call: Call) -> tuple[str, int | None]:
    return call.path["name"], call.query["version"]


def _request(call: Call) -> RunRequest:
    body = call.body
    ceiling = Ceiling(body["most_tokens"], body["most_cost"])
    return RunRequest(
        tuple(body["topics"]) or None, body["only_judged"], body["depth"], body["tried"], body["seed"], ceiling
    )


def _version(version: MachineVersion) -> dict[str, object]:
    return {
        **asdict(version),
        **machine_setup.settings_table(version),
        "version": version.number,
        "host": version.host,
        "has_key": model_access().has_key(version.settings.endpoint),
    }


def _machine(view: MachineView) -> dict[str, object]:
    return {**_version(view.version), "runs": [_run(run) for run in view.runs]}


def _run(run: RunView) -> dict[str, object]:
    return {**vars(run), "problem": str(run.problem or "")}
