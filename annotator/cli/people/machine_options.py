"""What commands say of a machine that judges: its model, its prompt, and when it gave its labels."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

import click

from annotator.cli.site.argument_text import FILE
from annotator.cli.site.input_files import read_text
from annotator.workflows.agreement.machine_judges import MachineFacts

Command = TypeVar("Command", bound=Callable[..., Any])


def machine_options(command: Command) -> Command:
    """Give a command `--model`, `--prompt` and `--date`."""
    for option in (
        click.option(
            "--date", "labelled_on", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="When it gave its labels."
        ),
        click.option("--prompt", "prompt_file", type=FILE, metavar="FILE", help="The prompt; - is standard input."),
        click.option("--model", default="", metavar="MODEL", help="The model, with its version."),
    ):
        command = option(command)
    return command


def machine_facts(model: str, prompt_file: str | None, labelled_on: datetime | None) -> MachineFacts:
    """Read what the options say."""
    prompt = "" if prompt_file is None else read_text(prompt_file)
    return MachineFacts(model.strip(), prompt, labelled_on.date() if labelled_on else None)
