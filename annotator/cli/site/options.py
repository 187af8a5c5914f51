"""Options that several commands share, and the confirmation of effects that are hard to undo."""

import sys
from collections.abc import Callable, Collection, Sequence
from datetime import date, datetime
from typing import Any

import click
from click.core import ParameterSource

from annotator.errors import ConflictError, InvalidValueError
from annotator.moments import read_day, read_moment


class MomentType(click.ParamType[Any]):
    """A parameter type for the parsers of `annotator.moments`."""

    def __init__(self, name: str, read: Callable[[str], date | datetime]) -> None:
        """Keep the name for the help and the parser."""
        self.name = name
        self.read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - the signature is click's
        """Parse the text; a usage error if it is not a valid time."""
        if not isinstance(value, str):
            return value
        try:
            return self.read(value)
        except InvalidValueError as error:
            self.fail(str(error), param, ctx)


MOMENT = MomentType("moment", read_moment)
DAY = MomentType("day", read_day)

dry_run_option = click.option("--dry-run", is_flag=True, help="Check and count everything, and store nothing.")

LIVE = "live"
OMIT = "omit"
AS_MINUS_ONE = "-1"
MEASURE_HELP = "Such as nDCG@10, AP, P@5 or RR; repeatable. `annotator measures list` lists all."
measures_option = click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help=MEASURE_HELP)
sort_option = click.option(
    "--sort", metavar="MEASURE", help="Sort by one of the measures, by run or by team. [the first measure]"
)
qrels_option = click.option(
    "--qrels",
    default=LIVE,
    show_default=True,
    metavar="GRADES",
    help="The qrels to score by: the number of a kept version, or live, the current grades.",
)
compat_option = click.option(
    "--compat",
    type=click.Choice(["10", "9"]),
    default="10",
    show_default=True,
    help="The version of trec_eval to follow where they differ.",
)
round_option = click.option("--round", "round_number", type=int, metavar="N", help="Score only the runs of this round.")
task_option = click.option(
    "--task", metavar="KEY", help="Score only the runs of this task, on its topics, in a collection with tasks."
)
residual_option = click.option(
    "--residual/--whole",
    "residual",
    default=None,
    help=(
        "With --round: remove documents judged before the round from runs and qrels (residual collection), or not. "
        "[--residual]"
    ),
)
topics_option = click.option(
    "--topic", "topics", multiple=True, metavar="NUMBER", help="Only this topic; repeatable. [all]"
)
unjudged_option = click.option(
    "--unjudged",
    type=click.Choice([OMIT, AS_MINUS_ONE]),
    default=OMIT,
    show_default=True,
    help=(
        "Whether pooled documents without a judgement get a line with -1. Documents that could not be judged get none."
    ),
)


def is_residual(round_number: int | None, *, residual: bool | None) -> bool:
    """Whether a round is scored on the residual collection; `UsageError` for the option without a round."""
    if residual is not None and round_number is None:
        raise click.UsageError("--residual and --whole are for the runs of one round: give --round N, too.")
    return round_number is not None and residual is not False


def query_of_scope(round_number: int | None, task: str | None, *, residual: bool | None) -> dict[str, object]:
    """The round and the task as arguments of the API, none without them; `UsageError` as `is_residual`."""
    is_wanted = is_residual(round_number, residual=residual)
    of_task: dict[str, object] = {} if task is None else {"task": task}
    return of_task if round_number is None else {**of_task, "round": round_number, "residual": is_wanted}


def show_outcome(counts: str, *, dry_run: bool) -> None:
    """Print the outcome of an import, or of its dry run, on standard error."""
    click.echo(f"Nothing was stored. The import would give: {counts}" if dry_run else counts, err=True)


yes_option = click.option("--yes", is_flag=True, help="Do not ask for confirmation; scripts need it.")


yes_at_terminal = click.option("--yes", is_flag=True, help="Do not ask for confirmation; scripts are never asked.")


def at_terminal() -> bool:
    """Whether standard input is a terminal."""
    return sys.stdin.isatty()


def is_asked(*, yes: bool) -> bool:
    """Whether to ask for confirmation: only at a terminal and without `--yes`."""
    return not yes and at_terminal()


def confirm(effect: str, *, yes: bool) -> None:
    """Show the effect and ask for confirmation; without a terminal `--yes` is required.

    Raises `ConflictError` when it is missing there, and `click.Abort` when the answer is no.
    """
    click.echo(effect, err=True)
    if yes:
        return
    if not at_terminal():
        raise ConflictError("Nothing was done: confirm it with --yes.")
    click.confirm("Go on?", abort=True, err=True)


def typed_text(effect: str, wanted: str, given: str | None) -> str:
    """The text that confirms an effect: `given` by an option, or typed at a terminal.

    Raises `ConflictError` without either.
    """
    click.echo(effect, err=True)
    if given is not None:
        return given
    if not at_terminal():
        raise ConflictError("Nothing was done: confirm it with --confirm %(wanted)s.", wanted=wanted)
    answer: str = click.prompt(f"Type {wanted} to confirm", err=True)
    return answer


def refuse_options_besides(option: str, also: Collection[str]) -> None:
    """Raise `UsageError` for an option of the running command that does not go with `option`.

    `also` has the names of the parameters that do, and of `option` itself.
    """
    context = click.get_current_context()
    for one in context.command.params:
        is_given = context.get_parameter_source(one.name or "") is ParameterSource.COMMANDLINE
        if is_given and isinstance(one, click.Option) and one.name not in also:
            raise click.UsageError(f"{option} does not go with {one.opts[0]}.")


answer_option = click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="KEY=ANSWER",
    help="An answer to the questionnaire, for all of the files; repeatable.",
)


def read_assignments(given: Sequence[str]) -> dict[str, object]:
    """Parse `KEY=ANSWER` arguments; `UsageError` for any other form and for a key given twice."""
    read: dict[str, object] = {}
    for one in given:
        key, equals, answer = one.partition("=")
        if not equals:
            raise click.UsageError(f"“{one}” is not KEY=ANSWER.")
        if key.strip() in read:
            raise click.UsageError(f"“{key.strip()}” is answered twice.")
        read[key.strip()] = answer
    return read
