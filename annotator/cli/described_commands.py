"""Commands as `commands.json` describes them, for help and completion, which need none of the real commands.

A command's module imports everything the command works with: tables, arrays, some 870 modules. To show its help or to
complete its options, its texts are enough. `make commands` writes them to `commands.json`, and a test fails when they
differ from the commands. Whatever is not described is imported: a file that is out of date can show an old help text,
but it keeps no command from running.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import click

DESCRIPTIONS = Path(__file__).with_name("commands.json")
# Commands for a local database; for a site, only the nouns that are other commands there.
DATABASE, SITE = "database", "site"
# What click writes between the help of an option and what follows in brackets, such as its default.
GAP = "  "

Entry = Mapping[str, Any]
Load = Callable[[], click.Command | None]


class DescribedOption(click.Option):
    """An option for help, completion and the parser; it has no default and converts nothing."""

    def __init__(self, entry: Entry) -> None:
        """Read the entry of an option."""
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
        """The two columns of the option in the help text."""
        return None if self.hidden else (self.left, GAP.join(filter(None, (self.help, self.extra))))


class DescribedGroup(click.Group):
    """A group that imports the real one when a command of it is to run."""

    def __init__(self, name: str, help_text: str, load: Load) -> None:
        """Begin with no commands; `load` imports the real group."""
        super().__init__(name, help=help_text)
        self.load = load

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command by its name; one that is not described is imported, though not while a line is completed."""
        command = super().get_command(ctx, cmd_name)
        return self.load_command(cmd_name) if command is None and not ctx.resilient_parsing else command

    def load_command(self, name: str) -> click.Command | None:
        """Import the real group, and return its command of this name."""
        real = self.load()
        return real.commands.get(name) if isinstance(real, click.Group) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command to go on with, described or real."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is None or command is None or is_enough(ctx, command, rest):
            return name, command, rest
        return name, self.load_command(name), rest


def is_enough(parent: click.Context, command: click.Command, args: list[str]) -> bool:
    """Whether a described command will do: to complete a line, to show help, or as the group of another command.

    The arguments are parsed to find out, since `--help` may also be a value or a file's name.
    """
    if parent.resilient_parsing or isinstance(command, click.Group):
        return True
    context = click.Context(command, parent=parent, resilient_parsing=True)
    given, _, _ = command.make_parser(context).parse_args(list(args))
    help_option = command.get_help_option(context)
    return help_option is not None and help_option.name in given


def described(noun: str, *, on_site: bool, load: Load) -> click.Command | None:
    """The described command of a noun, None when there is none; `load` imports the real one."""
    of_database, of_site = descriptions()[DATABASE], descriptions()[SITE]
    entry = (of_site if on_site and noun in of_site else of_database).get(noun)
    return None if entry is None else _command(noun, entry, load)


@cache
def descriptions() -> Mapping[str, Mapping[str, Entry]]:
    """What the file has: the two trees, in each the nouns."""
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
    )


def _type_of(entry: Entry) -> click.ParamType[Any] | None:
    """The type that completes what the real one completes."""
    if "choices" in entry:
        return click.Choice(entry["choices"])
    return click.Path(file_okay="is_folder" not in entry) if "is_path" in entry else None
