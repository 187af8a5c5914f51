"""Writes `commands.json`, the source of help texts and completion; see `annotator.cli.described_commands`.

`python -m annotator.cli.describe_commands` writes it in a checkout; `make commands` calls it.
"""

import inspect
import json
from collections.abc import Iterable
from typing import Any

import click

from annotator.cli.described_commands import DATABASE, DESCRIPTIONS, GAP, SITE
from annotator.cli.root import main


def describe_commands() -> dict[str, dict[str, Any]]:
    """Describe every command in the format of the file."""
    here, there = real_nouns(on_site=False), real_nouns(on_site=True)
    return {
        DATABASE: {name: _described(command) for name, command in here.items()},
        SITE: {name: _described(command) for name, command in there.items() if command is not here[name]},
    }


def real_nouns(*, on_site: bool) -> dict[str, click.Command]:
    """Import and return the command of every noun."""
    context = click.Context(main)
    context.params["site"] = "https://example.org" if on_site else None
    named = ((name, main.get_command(context, name)) for name in main.list_commands(context))
    return {name: command for name, command in named if command is not None}


def as_json(value: object, indent: str = "") -> str:
    """JSON with one line for each parameter, so that concurrent changes rarely conflict."""
    inner = indent + " "
    match value:
        case dict():
            return _block(
                "{", "}", [f"{json.dumps(name)}: {as_json(one, inner)}" for name, one in value.items()], indent
            )
        case list():
            return _block("[", "]", [json.dumps(one, ensure_ascii=False) for one in value], indent)
        case _:
            return json.dumps(value, ensure_ascii=False)


def _block(begin: str, end: str, entries: Iterable[str], indent: str) -> str:
    return "\n".join([begin, ",\n".join(f"{indent} {entry}" for entry in entries), indent + end])


def _described(command: click.Command) -> dict[str, Any]:
    texts = {"help": inspect.cleandoc(command.help or "")}
    if isinstance(command, click.Group):
        return texts | {"commands": {name: _described(one) for name, one in sorted(command.commands.items())}}
    context = click.Context(command)
    return texts | {"parameters": [_parameter(one, context) for one in command.params]}


def _parameter(parameter: click.Parameter, context: click.Context) -> dict[str, Any]:
    """Describe a parameter; omitted keys mean false, empty or, for `nargs`, 1."""
    entry: dict[str, Any] = {"name": parameter.name}
    if isinstance(parameter, click.Option):
        left, right = parameter.get_help_record(context) or ("", "")
        off = next(iter(parameter.secondary_opts), None)
        extra = right.removeprefix(parameter.help or "").removeprefix(GAP)
        entry |= {"names": parameter.opts, "off": off, "left": left, "help": parameter.help, "extra": extra}
        entry |= {"is_flag": parameter.is_flag, "multiple": parameter.multiple, "hidden": parameter.hidden}
    else:
        entry["metavar"] = parameter.make_metavar(context)
    entry |= {"nargs": None if parameter.nargs == 1 else parameter.nargs, "choices": _choices(parameter)}
    entry["is_path"] = isinstance(parameter.type, click.Path)
    entry["is_folder"] = isinstance(parameter.type, click.Path) and not parameter.type.file_okay
    return {name: value for name, value in entry.items() if value}


def _choices(parameter: click.Parameter) -> list[str]:
    kind = parameter.type
    return [str(getattr(one, "value", one)) for one in kind.choices] if isinstance(kind, click.Choice) else []


if __name__ == "__main__":
    DESCRIPTIONS.write_text(as_json(describe_commands()) + "\n", encoding="utf-8")
