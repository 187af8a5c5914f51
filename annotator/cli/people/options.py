"""Options for people and machines: the base address of links, and the model and prompt of a machine judge."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

import click

from annotator.cli.site.files import FILE, read_text
from annotator.storage.agreement.machines import MachineFacts

Command = TypeVar("Command", bound=Callable[..., Any])


JOIN = "/join?"


def _checked(context: click.Context, parameter: click.Parameter, address: str) -> str:
    try:
        parts = urlsplit(address)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.query or parts.fragment:
        raise click.BadParameter("It is no address such as https://annotator.example.org.", context, parameter)
    return address.rstrip("/")


at_address = click.option(
    "--address",
    metavar="URL",
    default="http://127.0.0.1:8000",
    show_default=True,
    callback=_checked,
    help="The address of the site, with which the links begin.",
)


def link_to(address: str, secret: str) -> str:
    """The invitation link with this secret."""
    return address + JOIN + urlencode({"key": secret})


def machine_options(command: Command) -> Command:
    """Add `--model`, `--prompt` and `--date` to a command."""
    for option in (
        click.option(
            "--date", "labelled_on", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="When it made its labels."
        ),
        click.option("--prompt", "prompt_file", type=FILE, metavar="FILE", help="The prompt; - is standard input."),
        click.option("--model", default="", metavar="MODEL", help="The model, with its version."),
    ):
        command = option(command)
    return command


def machine_facts(model: str, prompt_file: str | None, labelled_on: datetime | None) -> MachineFacts:
    """Read the values of these options, and the prompt file."""
    prompt = "" if prompt_file is None else read_text(prompt_file)
    return MachineFacts(model.strip(), prompt, labelled_on.date() if labelled_on else None)
