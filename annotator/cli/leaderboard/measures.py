"""`annotator measures`: what can be measured, and what each measure says."""

import click

from annotator.cli.site.formats import TABLE, format_option, show_rows, show_values
from annotator.workflows.leaderboard.scoring import explain_measure, list_measures


@click.group
def command() -> None:
    """What can be measured, and what each measure says."""


@command.command("list")
@format_option()
def list_(format_: str) -> None:
    """List every measure by the form of its name: k is a cutoff, x a level, brackets may be left out."""
    show_rows(format_, ["MEASURE", "WHAT IT SAYS"], [[help_.form, help_.summary] for help_ in list_measures().values()])


@command.command("show")
@click.argument("measure")
@format_option()
def show(measure: str, format_: str) -> None:
    """Explain a measure: definition, range, what happens at the edges, what it takes in brackets, reference."""
    help_ = explain_measure(measure)
    if format_ != TABLE:
        show_values(
            format_,
            ("NAME", "VALUE"),
            {
                "measure": help_.form,
                "stands for": help_.stands_for,
                "text": help_.text,
                "parameters": [str(parameter) for parameter in help_.parameters],
                "also called": list(help_.also_called),
            },
        )
        return
    stands_for = f"{measure} stands for {help_.stands_for}.\n\n" if help_.stands_for else ""
    click.echo(f"{help_.form}\n\n{stands_for}{help_.text}\n\nIn brackets it takes:")
    for parameter in help_.parameters:
        click.echo(f"  {parameter}")
    if help_.also_called:
        click.echo(f"\nAlso read as: {', '.join(help_.also_called)}.")
