"""`annotator pool stopping`: when to stop judging topics, and the decisions to stop."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.tables import format_option, show_csv, show_json, show_table
from annotator.evaluation.stopping.recall_estimates import RecallEstimate
from annotator.evaluation.stopping.stopping_rules import (
    RULES,
    USUAL_SETTINGS,
    Rho,
    StoppingAnswer,
    StoppingSettings,
    StoppingState,
)
from annotator.workflows.qrels.stopping import StoppingPart, StoppingReport, StoppingRequest, stopping_report
from annotator.workflows.qrels.stopping_decisions import decide_topic

WRITTEN = {StoppingState.GO_ON: "on", StoppingState.CANNOT_CERTIFY: "no", StoppingState.NOT_APPLICABLE: None}


@click.group("stopping")
def stopping() -> None:
    """When to stop judging: stopping rules, estimated recall, and the organiser's decisions."""


takes_target = click.option(
    "--target",
    type=float,
    default=USUAL_SETTINGS.target,
    show_default=True,
    metavar="RECALL",
    help="The recall that stopping rules aim at, between 0 and 1.",
)


@stopping.command("show")
@click.argument("slug")
@click.option("--topic", "topics", multiple=True, metavar="NUMBER", help="Only this topic; repeatable. [all]")
@click.option(
    "--rule", "rules", multiple=True, type=click.Choice(list(RULES)), help="Only this rule; repeatable. [all]"
)
@takes_target
@click.option(
    "--alpha",
    type=float,
    default=USUAL_SETTINGS.alpha,
    show_default=True,
    metavar="RISK",
    help="The risk of missing the target that rules with a guarantee may take.",
)
@click.option(
    "--in-a-row",
    type=int,
    default=USUAL_SETTINGS.in_a_row,
    show_default=True,
    metavar="N",
    help="The rule in-a-row stops after N documents without a relevant one.",
)
@click.option(
    "--budget",
    type=int,
    metavar="N",
    help="The rule budget stops after N documents of a topic. [the budget of Cormack and Grossman]",
)
@click.option(
    "--rho",
    type=click.Choice([one.value for one in Rho]),
    default=Rho.ADAPTIVE.value,
    show_default=True,
    help="The bound of the knee; “first” only reproduces tables of others.",
)
@click.option(
    "--by",
    type=click.Choice([part.value for part in StoppingPart]),
    help="One table of the report: the topics, the rules, the curve of found documents, or the decisions.",
)
@format_option()
@on_installation
def show(
    installation: Installation,
    slug: str,
    topics: Sequence[str],
    rules: Sequence[str],
    target: float,
    alpha: float,
    in_a_row: int,
    budget: int | None,
    rho: str,
    by: str | None,
    format_: str,
) -> None:
    """Show for each topic after how many documents each rule would have stopped.

    A number is the documents that were judged then; “on” means to go on, “no” that the rule cannot certify anything
    yet, and “-” that it does not apply. Rules marked with * give a guarantee, from a random sample; the others are
    heuristics. --by topics has the reasons. A table without --by shows topics and rules, csv the topics.
    """
    settings = StoppingSettings(target, alpha, in_a_row, budget, Rho(rho))
    request = StoppingRequest(settings, tuple(rules), tuple(topics))
    report = installation.database.read(stopping_report, slug, request)
    part = StoppingPart.TOPICS if by is None else StoppingPart(by)
    headings, rows = report.table(part)
    if format_ == "json":
        named = {one.value: report.table(one) for one in StoppingPart}
        show_json(
            {
                "judged": report.judged,
                "relevant": report.relevant,
                "estimate": None if report.estimate is None else vars(report.estimate),
                "notices": list(map(str, report.notices)),
                **{name: [dict(zip(some, row, strict=True)) for row in table] for name, (some, table) in named.items()},
            }
        )
    elif format_ == "csv":
        show_csv(headings, rows)
    elif by is not None:
        show_table([heading.upper().replace("_", " ") for heading in headings], rows)
    else:
        _show_summary(report)
    for line in (f"{report.judged} documents judged, {report.relevant} relevant.", *map(str, report.notices)):
        click.echo(line, err=True)
    if report.estimate is not None:
        click.echo(f"Estimated recall: {_recall(report.estimate)} ({report.estimate.method}).", err=True)


def _show_summary(report: StoppingReport) -> None:
    names = {one.name: f"{one.name}{'*' if one.certainty == 'guarantee' else ''}" for one in report.rules}
    show_table(
        ["TOPIC", "JUDGED", "FOUND", "RECALL", *names.values(), "STOPPED"],
        [
            [
                *(topic.number, topic.judged, topic.relevant, _recall(topic.estimate)),
                *(_written(answer) for answer in topic.answers.values()),
                topic.is_stopped,
            ]
            for topic in report.topics
        ],
    )
    click.echo()
    show_table(
        ["RULE", "PROMISE", "TOPICS", "STOPS", "JUDGED", "BEYOND"],
        [[names[one.name], one.certainty, one.topics, one.stops, one.judged, one.beyond] for one in report.rules],
    )


def _written(answer: StoppingAnswer) -> str | int | None:
    return answer.at if answer.state is StoppingState.STOP else WRITTEN[answer.state]


def _recall(estimate: RecallEstimate | None) -> str | None:
    return None if estimate is None else f"{estimate.recall:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


@stopping.command("add")
@click.argument("slug")
@click.argument("topic")
@click.option("--reason", required=True, metavar="TEXT", help="Why judging stops; it is recorded.")
@click.option("--rule", type=click.Choice(list(RULES)), help="The rule that was followed.")
@on_installation
def add(installation: Installation, slug: str, topic: str, reason: str, rule: str | None) -> None:
    """Record the decision to stop judging a topic, with what is known of it now.

    An adaptive strategy chooses no further documents for it; those in its pool are still judged.
    """
    _decide(installation, slug, topic, stops=True, reason=reason, rule=rule)


@stopping.command("remove")
@click.argument("slug")
@click.argument("topic")
@click.option("--reason", required=True, metavar="TEXT", help="Why judging goes on; it is recorded.")
@on_installation
def remove(installation: Installation, slug: str, topic: str, reason: str) -> None:
    """Take back the decision to stop a topic. Both decisions stay recorded."""
    _decide(installation, slug, topic, stops=False, reason=reason, rule=None)


def _decide(installation: Installation, slug: str, topic: str, *, stops: bool, reason: str, rule: str | None) -> None:
    with installation.database.transaction() as session:
        made = decide_topic(
            session, slug, topic, stops=stops, reason=reason, rule=rule, by_id=None, at=datetime.now(UTC)
        )
        if stops:
            details = {"rule": rule, "reason": reason, "judged": made.judged, "relevant": made.relevant}
            note(session, "pool.stop", slug, subject=topic, details=details)
        else:
            note(session, "pool.resume", slug, subject=topic, details={"reason": reason})
    what = "is stopped" if stops else "goes on"
    click.echo(f"Topic {topic} {what}: {made.judged} documents judged, {made.relevant} relevant.", err=True)
