"""Commands as described in `commands.json`, for help and completion without importing the real commands.

The module of a command imports all that the command needs: tables, arrays, some 870 modules. Its texts are enough to
show help or to complete options. `make commands` writes them to `commands.json`, and a test fails when they differ
from the commands. A command without a description is imported: an outdated file can show an old help text, but does
not keep any command from running.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click

DESCRIPTIONS = Path(__file__).with_name("commands.json")
# The key of commands on a local database, and that of commands on a site (only nouns that differ there).
DATABASE, SITE = "database", "site"
# What click puts between the help of an option and its default or other extras in brackets.
GAP = "  "
# The metavariables of the name of a collection or of a run, which completion reads from the database or the site.
NAMES = ("SLUG", "TAG")

Entry = Mapping[str, Any]
Load = Callable[[], click.Command | None]
Complete = Callable[[click.Context, click.Parameter, str], list[str]]


class DescribedOption(click.Option):
    """An option for help, completion and parsing, without default or conversion."""

    def __init__(self, entry: Entry) -> None:
        """Create the option from its entry in the file."""
        first, *others = entry["names"]
        super().__init__(
            [f"{first}/{entry['off']}" if "off" in entry else first, *others, entry["name"]],
            type=_type_of(entry),
            help=entry.get("help"),
            nargs=entry.get("nargs", 1),
            is_flag=entry.get("is_flag"),
            multiple=entry.get("multiple", False),
            hidden=entry.get("hidden", False),
        )
        self.left, self.extra = entry.get("left", ""), entry.get("extra")

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:  # noqa: ARG002 - the signature is click's
        """The option and its help text, as the two columns of the help page."""
        return None if self.hidden else (self.left, GAP.join(filter(None, (self.help, self.extra))))


class DescribedGroup(click.Group):
    """A group that imports the real one when a command of it is to run."""

    def __init__(self, name: str, help_text: str, load: Load) -> None:
        """Create the group without commands; `load` imports the real group."""
        super().__init__(name, help=help_text)
        self.load = load

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command by name; one without a description is imported, except during completion."""
        command = super().get_command(ctx, cmd_name)
        return self.load_command(cmd_name) if command is None and not ctx.resilient_parsing else command

    def load_command(self, name: str) -> click.Command | None:
        """Import the real group and return its command of this name."""
        real = self.load()
        return real.commands.get(name) if isinstance(real, click.Group) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the next command on the line, described or real."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is None or command is None or is_enough(ctx, command, rest):
            return name, command, rest
        return name, self.load_command(name), rest


def is_enough(parent: click.Context, command: click.Command, args: list[str]) -> bool:
    """Whether the described command is enough: for completion, for help, or as the group of another command.

    The arguments are parsed to find out, since `--help` may also be a value or the name of a file.
    """
    if parent.resilient_parsing or isinstance(command, click.Group):
        return True
    context = click.Context(command, parent=parent, resilient_parsing=True)
    given, _, _ = command.make_parser(context).parse_args(list(args))
    help_option = command.get_help_option(context)
    return help_option is not None and help_option.name in given


def described(noun: str, *, on_site: bool, load: Load) -> click.Command | None:
    """The described command of a noun, None if there is none; `load` imports the real one."""
    of_database, of_site = descriptions()[DATABASE], descriptions()[SITE]
    entry = (of_site if on_site and noun in of_site else of_database).get(noun)
    return None if entry is None else _command(noun, entry, load)


@cache
def descriptions() -> Mapping[str, Mapping[str, Entry]]:
    """The contents of the file: by tree (local, site), the entries of the nouns."""
    trees: dict[str, dict[str, Entry]] = json.loads(DESCRIPTIONS.read_text(encoding="utf-8"))
    return trees


def _command(name: str, entry: Entry, load: Load) -> click.Command:
    if "commands" not in entry:
        return click.Command(name, params=[_parameter(one) for one in entry["parameters"]], help=entry["help"])
    group = DescribedGroup(name, entry["help"], load)
    for verb, below in entry["commands"].items():
        group.add_command(_command(verb, below, partial(group.load_command, verb)))
    return group


def _parameter(entry: Entry) -> click.Parameter:
    if "names" in entry:
        return DescribedOption(entry)
    return click.Argument(
        [entry["name"]],
        type=_type_of(entry),
        nargs=entry.get("nargs", 1),
        required=False,
        metavar=entry["metavar"],
        shell_complete=_names_for(entry["metavar"]),
    )


def _names_for(metavar: str) -> Complete | None:
    """Complete slugs or tags, from a module that is imported at need and opens the database; None for other values."""
    if metavar not in NAMES:
        return None
    return lambda context, _, begun: import_module("annotator.cli.site.name_completion").complete_names(
        metavar, context, begun
    )


def _type_of(entry: Entry) -> click.ParamType[Any] | None:
    """A parameter type with the same completion as the real one."""
    if "choices" in entry:
        return click.Choice(entry["choices"])
    return click.Path(file_okay="is_folder" not in entry) if "is_path" in entry else None
