"""`annotator judges`: quality and working hours of each judge."""

from datetime import date

import click

from annotator.cli.agreement.machine_judging import machine
from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.options import DAY
from annotator.cli.site.tables import Row, format_option, show_csv, show_json, show_table
from annotator.workflows.agreement.judge_hours import HEADINGS as HOURS_HEADINGS
from annotator.workflows.agreement.judge_hours import HoursWanted, Period, hours_cells, hours_csv, judge_hours
from annotator.workflows.agreement.judge_quality import (
    USUAL_PERCENT,
    USUAL_STREAK,
    Fast,
    FastStreak,
    JudgeQuality,
    QualityReport,
    quality_table,
    report_quality,
)

QUALITY_HEADINGS = [
    "JUDGE",
    "JUDGED",
    "SECONDS",
    "AN HOUR",
    "STREAKS",
    "RELEVANT",
    "MORE THAN OTHERS",
    "AGREES",
    "RIGHT",
    "AGAIN",
]


@click.group
def command() -> None:
    """Quality of the judges' work, whose figures show where to look, not who is wrong; machine judges."""


command.add_command(machine)


@command.group("quality")
def quality() -> None:
    """Quality of the judges' work: pace, leniency, answers, drift."""


@quality.command("show")
@click.argument("slug")
@click.option(
    "--streak",
    default=USUAL_STREAK,
    show_default=True,
    metavar="N",
    help="The minimum length of a streak, in documents.",
)
@click.option(
    "--percent",
    default=USUAL_PERCENT,
    show_default=True,
    metavar="P",
    help="Very fast is under this percentage of the judge's median time, or of the others' if it is longer.",
)
@format_option()
@on_installation
def show_quality(installation: Installation, slug: str, streak: int, percent: int, format_: str) -> None:
    """Show the pace, very fast streaks and agreement of each judge.

    RELEVANT is the share of documents judged relevant, and MORE THAN OTHERS its difference from the other judges on the
    same topics with a 95 % interval; AGREES the share of equal grades among the other judges' grades of the same
    documents; RIGHT the share of right answers to gold questions; AGAIN the share of equal grades among documents shown
    a second time. csv and json have all intervals, and the change of agreement and leniency from the first half of the
    work to the second, without grades from files, which have no time. Very fast is also, whatever the medians, less
    than a second per 60 characters, up to two seconds per document.
    """
    report = installation.database.read(report_quality, slug, Fast(streak, percent))
    match format_:
        case "json":
            show_json(_as_json(report))
        case "csv":
            show_csv(*quality_table(report))
        case _:
            show_table(QUALITY_HEADINGS, [_row(one) for one in report.judges])


def _row(one: JudgeQuality) -> Row:
    work = one.work
    return [
        *(one.judge, one.judged),
        *((f"{one.pace.median_seconds:.1f}", f"{one.pace.documents_an_hour:.0f}") if one.pace else (None, None)),
        len(one.streaks) if one.pace else None,
        work.relevant.value if work else None,
        _difference(one),
        work.agreement if work else None,
        f"{one.right.count} of {one.right.of}" if one.right else None,
        f"{one.again.same.count} of {one.again.same.of}" if one.again.same else None,
    ]


def _difference(one: JudgeQuality) -> str | None:
    if one.work is None or one.work.lenience is None:
        return None
    difference = one.work.lenience.difference
    if difference.interval is None:
        return f"{difference.value:+.3f}"
    low, high = difference.interval
    return f"{difference.value:+.3f} ({low:+.3f} to {high:+.3f})"


def _as_json(report: QualityReport) -> dict[str, object]:
    table = quality_table(report)
    return {
        "streak": report.fast.streak,
        "percent": report.fast.percent,
        "judges": [
            {
                **dict(zip(table.headings, row, strict=True)),
                "fast_below_seconds": one.fast_below,
                "streaks": [_streak(streak) for streak in one.streaks],
                "stretches": [vars(stretch) for stretch in one.work.stretches] if one.work else [],
            }
            for one, row in zip(report.judges, table.rows, strict=True)
        ],
    }


def _streak(streak: FastStreak) -> dict[str, object]:
    return {**vars(streak), "began_at": streak.began_at.isoformat()}


@command.group("hours")
def hours() -> None:
    """Hours and judgements of each judge, for payment."""


@hours.command("show")
@click.argument("slug")
@click.option(
    "--since", "first", type=DAY, metavar="WHEN", help="The first day to include, such as 2027-03-01, in UTC."
)
@click.option("--until", "last", type=DAY, metavar="WHEN", help="The last day to include.")
@click.option(
    "--period",
    default=Period.MONTH.value,
    show_default=True,
    type=click.Choice([one.value for one in Period]),
    help="The period of a line.",
)
@format_option()
@on_installation
def show_hours(
    installation: Installation, slug: str, first: date | None, last: date | None, period: str, format_: str
) -> None:
    """Show the judgements and hours of each judge by day, week (from Monday), month, or in all.

    Hours are those with a document open and activity on the page; a changed judgement counts again, because it was
    work. Machines, training, and grades carried over to documents with the same text are left out.
    """
    rows = installation.database.read(judge_hours, slug, HoursWanted(first, last, Period(period)))
    match format_:
        case "json":
            show_json([dict(zip(HOURS_HEADINGS, hours_cells(row), strict=True)) for row in rows])
        case "csv":
            click.echo(hours_csv(rows).encode(), nl=False)
        case _:
            headings = [heading.replace("_", " ").upper() for heading in HOURS_HEADINGS]
            show_table(headings, [hours_cells(row) for row in rows])
