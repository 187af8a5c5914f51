"""Asking before what cannot be taken back easily, or costs judges hours."""

import sys

import click

from annotator.errors import ConflictError

yes_option = click.option("--yes", is_flag=True, help="Do not ask for confirmation; scripts need it.")

yes_at_terminal = click.option("--yes", is_flag=True, help="Do not ask for confirmation; scripts are never asked.")


def at_terminal() -> bool:
    """Whether a person types what the command reads."""
    return sys.stdin.isatty()


def is_asked(*, yes: bool) -> bool:
    """Whether a person at a terminal confirms first; scripts are never asked, nor is a person who gave `--yes`."""
    return not yes and at_terminal()


def confirm(effect: str, *, yes: bool) -> None:
    """State the effect and ask whether to go on; without a terminal `--yes` has to say so.

    Raises `ConflictError` when nobody can be asked, and `click.Abort` when the answer is no.
    """
    click.echo(effect, err=True)
    if yes:
        return
    if not at_terminal():
        raise ConflictError("Nothing was done: confirm it with --yes.")
    click.confirm("Go on?", abort=True, err=True)


def typed_text(effect: str, wanted: str, given: str | None) -> str:
    """What was typed to confirm an effect: `given` by an option, or asked for at a terminal.

    Raises `ConflictError` when nobody can be asked.
    """
    click.echo(effect, err=True)
    if given is not None:
        return given
    if not at_terminal():
        raise ConflictError("Nothing was done: confirm it with --confirm %(wanted)s.", wanted=wanted)
    answer: str = click.prompt(f"Type {wanted} to confirm", err=True)
    return answer
