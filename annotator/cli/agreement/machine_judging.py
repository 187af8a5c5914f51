"""`annotator judges machine`: add machine judges, run them over pooled documents, follow and cancel them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from annotator.cli.site.files import FILE, read_text
from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.options import dry_run_option, topics_option
from annotator.cli.site.tables import Cell, format_option, show_rows, show_values
from annotator.evaluation.machine_judging.tokens import Ceiling
from annotator.workflows.agreement import machine_runs, machine_setup
from annotator.workflows.agreement.machine_runs import TRIAL, MachineView, RunRequest, RunView
from annotator.workflows.agreement.machine_setup import MachineSettings, MachineVersion, built_in_names, named_prompt
from annotator.workflows.agreement.model_requests import ModelAccess
from annotator.workflows.agreement.prompt_comparison import PROMPT_TABLES, compare_versions

RUN_HEADINGS = (
    *("RUN", "STATE", "DOCUMENTS", "LABELLED", "WITHOUT GRADE", "FAILED", "REQUESTS", "STORED", "TOKENS SENT"),
    *("TOKENS RECEIVED", "COST", "STARTED", "ENDED", "PROBLEM"),
)
version_option = click.option(
    "--version", "number", type=int, metavar="N", help="The version of the machine judge. [the newest]"
)


@click.group("machine")
def machine() -> None:
    """Machine judges that this site runs: a language model, a prompt and settings, asked by a worker."""


@machine.command("add")
@click.argument("slug")
@click.argument("name")
@click.option("--endpoint", metavar="ADDRESS", help="An endpoint of chat completions, such as https://host/v1.")
@click.option("--model", metavar="MODEL", help="The name of the model at the endpoint.")
@click.option("--prompt", type=FILE, metavar="FILE", help="A file with the template of the prompt. [--built-in plain]")
@click.option("--built-in", type=click.Choice(built_in_names()), help="A prompt that is built in, in place of a file.")
@click.option("--samples", type=int, metavar="N", help="Responses for each document, which vote. [1]")
@click.option("--temperature", type=float, metavar="T", help="From 0 to 2; above 0 for several samples. [0]")
@click.option("--text-tokens", type=int, metavar="N", help="Approximate token limit of a document's text. [4000]")
@click.option("--answer-tokens", type=int, metavar="N", help="Token limit of a response. [100]")
@click.option(
    "--probabilities/--no-probabilities", "wants_probabilities", default=None, help="Request those of the grades."
)
@click.option("--parallel", type=int, metavar="N", help="Requests at the same time. [8]")
@click.option("--price-sent", type=float, metavar="P", help="For a million tokens that are sent.")
@click.option("--price-received", type=float, metavar="P", help="For a million tokens that are received.")
@click.option("--currency", metavar="NAME", help="Of the prices, such as EUR.")
@on_installation
def add(
    installation: Installation,
    /,
    slug: str,
    name: str,
    prompt: str | None,
    built_in: str | None,
    price_sent: float | None,
    price_received: float | None,
    currency: str | None,
    **given: object,
) -> None:
    """Add a machine judge, or a further version of one: options that are left out are those of its newest version.

    Its labels are those of the judge NAME-vN. The host of the endpoint must be one of ANNOTATOR_OUTGOING_HOSTS;
    ANNOTATOR_MODEL_KEYS says where its key is. Nothing is sent yet. A template has the variables {topic_number},
    {topic_title}, {topic_description}, {topic_narrative}, {document_title}, {document_text} and {scale}; other braces
    are doubled.
    """
    known = installation.database.read(machine_setup.list_versions, slug, name)
    changes: dict[str, object] = {option: value for option, value in given.items() if value is not None}
    if known:
        before = known[-1].settings
    elif "endpoint" in changes and "model" in changes:
        before = MachineSettings("", "")
    else:
        raise click.UsageError("A new machine judge needs --endpoint and --model.")
    if prompt is not None and built_in is not None:
        raise click.UsageError("Choose --prompt or --built-in.")
    if prompt is not None:
        changes |= {"prompt_name": Path(prompt).name, "prompt": read_text(prompt)}
    elif built_in is not None:
        changes |= {"prompt_name": built_in, "prompt": named_prompt(built_in)}
    prices = {"sent": price_sent, "received": price_received, "currency": currency}
    of_prices = {part: value for part, value in prices.items() if value is not None}
    settings = replace(before, prices=replace(before.prices, **of_prices), **changes)  # type: ignore[arg-type]
    with installation.database.transaction() as session:
        version = machine_setup.add_version(
            session, slug, name, settings, access=access(installation), by_id=None, at=datetime.now(UTC)
        )
        note(session, "machines.add", slug, subject=version.judge, details=machine_setup.noted(version))
    click.echo(f"Added {version.judge}: {settings.model} at {version.host}, prompt {settings.prompt_name}.", err=True)
    if not access(installation).has_key(settings.endpoint):
        click.echo(f"No key is named for {version.host}: requests are sent without one.", err=True)


@machine.command("list")
@click.argument("slug")
@format_option()
@on_installation
def list_(installation: Installation, slug: str, format_: str) -> None:
    """List the machine judges, each with its versions."""
    versions = installation.database.read(machine_setup.list_versions, slug)
    show_rows(
        format_,
        ("NAME", "VERSION", "JUDGE", "MODEL", "HOST", "PROMPT", "SAMPLES", "TEMPERATURE", "ADDED"),
        [
            [
                *(one.name, one.number, one.judge, one.settings.model, one.host, one.settings.prompt_name),
                *(one.settings.samples, one.settings.temperature, one.added_at),
            ]
            for one in versions
        ],
    )


@machine.command("show")
@click.argument("slug")
@click.argument("name")
@version_option
@click.option(
    "--by",
    type=click.Choice(["version", "run", "document"]),
    default="version",
    show_default=True,
    help="One table of the report: settings and progress, the latest runs, or the documents without a label.",
)
@format_option()
@on_installation
def show(installation: Installation, slug: str, name: str, number: int | None, by: str, format_: str) -> None:
    """Show a version: its settings, the progress, pace and remaining cost of its last run, or what got no label.

    Documents without a label are listed with the reason and, where a model responded, with the response as it came.
    """
    view = installation.database.read(machine_runs.view_machine, slug, name, number)
    match by:
        case "run":
            show_rows(format_, RUN_HEADINGS, [_run_row(run) for run in view.runs])
        case "document":
            rows = installation.database.read(machine_runs.documents_without_label, slug, name, number)
            show_rows(
                format_,
                ("TOPIC", "DOCNO", "KIND", "REASON", "TRIES", "NEXT", "RESPONSE"),
                [
                    [row.topic, row.docno, row.kind.value, str(row.problem), row.attempts, row.next_at, row.response]
                    for row in rows
                ],
            )
        case _:
            show_values(format_, ("NAME", "VALUE"), _values(installation, view))


@machine.command("run")
@click.argument("slug")
@click.argument("name")
@version_option
@topics_option
@click.option("--judged", "only_judged", is_flag=True, help="Only documents that people have graded.")
@click.option("--depth", type=int, metavar="K", help="In place of pooled documents: all that runs have up to rank K.")
@click.option(
    "--try",
    "tried",
    type=int,
    is_flag=False,
    flag_value=TRIAL,
    metavar="[N]",
    help=f"Only N documents, or {TRIAL}: first those that people have graded.",
)
@click.option(
    "--seed", type=int, default=machine_runs.USUAL_SEED, show_default=True, metavar="N", help="Draws those documents."
)
@click.option("--most-tokens", type=int, metavar="N", help="Stop before the run uses more tokens.")
@click.option("--most-cost", type=float, metavar="COST", help="Stop before the run costs more.")
@click.option("--continue", "continues", is_flag=True, help="Go on with the last run, which was stopped or cancelled.")
@dry_run_option
@on_installation
def run(
    installation: Installation,
    slug: str,
    name: str,
    number: int | None,
    topics: Sequence[str],
    depth: int | None,
    tried: int | None,
    seed: int,
    most_tokens: int | None,
    most_cost: float | None,
    *,
    only_judged: bool,
    continues: bool,
    dry_run: bool,
) -> None:
    """Have a worker ask the model about documents, and label them with the grades that it responds.

    The texts are sent to the endpoint. What was asked before with the same model, settings, prompt and text is not
    sent again. With --dry-run: how many requests, tokens and what cost that would take, without sending anything.
    """
    ceiling = Ceiling(most_tokens, most_cost)
    request = RunRequest(topics or None, only_judged, depth, tried, seed, ceiling)
    if continues:
        if dry_run or topics or only_judged or tried is not None or depth is not None:
            raise click.UsageError("--continue goes on with the documents of the last run: only a ceiling is new.")
        _continue(installation, slug, name, number, ceiling if ceiling != Ceiling() else None)
        return
    _show_estimate(installation, slug, name, number, request)
    if dry_run:
        click.echo("Nothing was sent or stored.", err=True)
        return
    with installation.database.transaction() as session:
        started = machine_runs.start_run(session, slug, name, number, request, by_id=None, at=datetime.now(UTC))
        details = {"documents": started.documents, "host": started.host}
        note(session, "machines.run", slug, subject=started.judge, details=details)
    click.echo(f"A worker runs {started.judge}. `annotator judges machine show {slug} {name}` shows how far.", err=True)


def _show_estimate(installation: Installation, slug: str, name: str, number: int | None, request: RunRequest) -> None:
    """Print on standard error what a run would take."""
    estimate = installation.database.read(machine_runs.estimate_run, slug, name, number, request)
    version = installation.database.read(machine_setup.show_version, slug, name, number)
    cost = "" if estimate.cost is None else f", cost {estimate.cost:.4f} {version.settings.prices.currency}".rstrip()
    about = "" if estimate.sampled == estimate.documents else f", by {estimate.sampled} documents"
    click.echo(
        f"Documents: {estimate.documents}, without text: {estimate.without_text}. Requests to {version.host}: "
        f"{estimate.requests}, stored already: {estimate.stored}. At most about {estimate.tokens.sent} tokens sent and "
        f"{estimate.tokens.received} received{cost}{about}.",
        err=True,
    )


@machine.command("compare")
@click.argument("slug")
@click.argument("name")
@click.option("--first", type=int, metavar="N", help="A version. [the one before the second]")
@click.option("--second", type=int, metavar="N", help="Another version. [the newest]")
@topics_option
@click.option(
    "--by",
    type=click.Choice(list(PROMPT_TABLES)),
    default="version",
    show_default=True,
    help="One table of the report: agreement with people, grade by grade, or the documents whose grade changed.",
)
@format_option()
@on_installation
def compare(
    installation: Installation,
    slug: str,
    name: str,
    first: int | None,
    second: int | None,
    topics: Sequence[str],
    by: str,
    format_: str,
) -> None:
    """Compare two versions with people: kappa with its interval, confusion, and the documents whose grade changed.

    Both are compared on the documents that both labelled and people graded. LOW and HIGH are the 95 % confidence
    interval of kappa by topics; the analytic bounds assume independent documents. MORE is the mean of the machine's
    grade minus people's.
    """
    with installation.database.reading() as session:
        found = compare_versions(session, slug, name, first, second, topics=topics or None)
    headings, rows = PROMPT_TABLES[by]
    show_rows(format_, [heading.replace("_", " ").upper() for heading in headings], rows(found))
    click.echo(
        f"Documents that both labelled: {found.common}; with another grade: {len(found.changed)}, of these nearer to "
        f"people's by version {found.second.version.number}: {found.nearer}, by version "
        f"{found.first.version.number}: {found.further}.",
        err=True,
    )


@machine.command("cancel")
@click.argument("slug")
@click.argument("name")
@version_option
@on_installation
def cancel(installation: Installation, slug: str, name: str, number: int | None) -> None:
    """Cancel the run: no further request is sent; labels and responses stay, and the run can be continued."""
    with installation.database.transaction() as session:
        cancelled = machine_runs.cancel_run(session, slug, name, number, at=datetime.now(UTC))
        note(session, "machines.cancel", slug, subject=cancelled.judge)
    click.echo(f"Cancelled: {cancelled.done} of {cancelled.documents} documents are done.", err=True)


def access(installation: Installation) -> ModelAccess:
    """Where this server may send, and where the keys are."""
    return ModelAccess(installation.settings.outgoing_hosts, installation.settings.model_keys)


def _continue(installation: Installation, slug: str, name: str, number: int | None, ceiling: Ceiling | None) -> None:
    with installation.database.transaction() as session:
        continued = machine_runs.continue_run(session, slug, name, number, ceiling)
        note(session, "machines.continue", slug, subject=continued.judge)
    click.echo(f"A worker goes on: {continued.done} of {continued.documents} documents are done.", err=True)


def _values(installation: Installation, view: MachineView) -> dict[str, Cell | list[str]]:
    version = view.version
    settings: dict[str, Cell | list[str]] = {
        name.replace("_", " "): value  # type: ignore[misc]
        for name, value in machine_setup.settings_table(version).items()
    }
    return {
        "judge": version.judge,
        "version": version.number,
        **settings,
        "key": "named" if access(installation).has_key(version.settings.endpoint) else "none",
        "added": version.added_at,
        **(_progress(view.runs[0], version) if view.runs else {"state": "never run"}),
        "documents without a grade": view.without_grade,
        "documents that failed": view.failed,
    }


def _progress(run_: RunView, version: MachineVersion) -> dict[str, Cell | list[str]]:
    currency = version.settings.prices.currency
    remaining = run_.remaining
    return {
        "state": run_.state.value,
        "done": f"{run_.done} of {run_.documents}",
        "labelled": run_.labelled,
        "documents an hour": run_.documents_an_hour,
        "seconds left": run_.seconds_left,
        "requests": run_.requests,
        "stored": run_.stored,
        "tokens": run_.used.total,
        "cost": _money(run_.cost, currency),
        "tokens left": None if remaining is None else remaining.total,
        "cost left": _money(run_.remaining_cost, currency),
        "problem": str(run_.problem or ""),
        "paused until": run_.paused_until,
    }


def _run_row(run_: RunView) -> list[Cell]:
    return [
        *(run_.id, run_.state.value, run_.documents, run_.labelled, run_.without_grade, run_.failed, run_.requests),
        *(run_.stored, run_.used.sent, run_.used.received, run_.cost, run_.started_at, run_.finished_at),
        str(run_.problem or ""),
    ]


def _money(cost: float | None, currency: str) -> str | None:
    return None if cost is None else f"{cost:.4f} {currency}".rstrip()
