"""Writes the pages of the reference from the code: commands, measures, strategies, policies, API, settings.

`conf.py` calls `write_pages` before each build; `python docs/generated.py` writes them without Sphinx. Nothing in
`docs/reference/generated` is written by hand or committed.
"""

import ast
import inspect
import json
import re
import runpy
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from annotator import settings
from annotator.api.site.api_page import shape_of
from annotator.app import create_app
from annotator.cli import main
from annotator.cli.remote.given import NOUNS
from annotator.evaluation.formats.registry import FORMATS
from annotator.evaluation.formats.row_formats import TREC
from annotator.evaluation.metrics.names import explain_all
from annotator.evaluation.outputs.registry import OUTPUTS
from annotator.evaluation.pooling.parameters import PARAMETERS
from annotator.evaluation.pooling.strategies import STRATEGIES
from annotator.evaluation.qrels.consensus import NAMED_POLICIES, parse_policy
from annotator.storage import Database

FOLDER = Path(__file__).parent / "reference" / "generated"
NOTE = "<!-- Written by docs/generated.py from the code. -->\n"
MATRIX = Path(__file__).parents[1] / "tests/support/ways_matrix.py"
# What Markdown would take for markup, outside of backticks.
MARKUP = re.compile(r"([\\*_<>\[\]$|])")
IN_MEMORY = "sqlite://"
ON_SITE = "on-site-"  # before the names of commands as they are on a site


def __getattr__(name: str) -> click.Command:
    """A command by the name of its page, for the directives of sphinx-click, which name an object of a module."""
    command = _commands(on_site=name.startswith(ON_SITE)).get(name.removeprefix(ON_SITE))
    if command is None:
        raise AttributeError(name)
    return command


def write_pages() -> None:
    """Write every page, and remove those of an earlier build."""
    pages = {name: make() for name, make in PAGES.items()} | {
        f"command-{name}.rst": command_page(name) for name in _commands()
    }
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in FOLDER.iterdir():
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def command_page(name: str) -> str:
    """The page of a command of the first level, with all below it; sphinx-click writes reStructuredText."""
    return f".. click:: generated:{name}\n   :prog: annotator {name}\n   :nested: full\n"


def commands_on_site_page() -> str:
    """The commands that work through the API of a site, whose options differ from those on a database."""
    directives = [
        f".. click:: generated:{ON_SITE}{name}\n   :prog: annotator --site URL {name}\n   :nested: full\n"
        for name in NOUNS
    ]
    about = "With `--site URL`, or `ANNOTATOR_SITE`, and a token these commands work through the API of a site."
    return "\n".join(["Commands on a site\n==================\n", f"{about}\n", *directives])


def commands_page() -> str:
    """The commands of the first level, each with its page."""
    rows = [
        (f"[`{name}`](command-{name}.rst)", plain(command.get_short_help_str(limit=120)))
        for name, command in _commands().items()
    ]
    listed = "\n".join([*(f"command-{name}" for name in _commands()), "commands-on-site"])
    return (
        f"{NOTE}# Commands\n\n{plain(_paragraphs(main.help or ''))}\n\n{table(('Command', 'Purpose'), rows)}\n\n"
        "With `--site` several of them have other options: [commands on a site](commands-on-site.rst).\n\n"
        f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n"
    )


def measures_page() -> str:
    """Every measure: its form, definition, parameters and other names."""
    sections = []
    for help_ in explain_all().values():
        also = f"\n\nAlso read as: {', '.join(f'`{name}`' for name in help_.also_called)}." if help_.also_called else ""
        takes = "\n".join(f"- {plain(str(parameter))}" for parameter in help_.parameters)
        sections.append(f"## {help_.form}\n\n{plain(_paragraphs(help_.text))}\n\nParameters:\n\n{takes}{also}\n")
    about = (
        "`annotator measures list` and `annotator measures show NAME` print the same text. Names are those of "
        "ir_measures or trec_eval. `k` is a cutoff, `x` a level; what is in square brackets can be omitted."
    )
    return "\n".join([f"{NOTE}# Measures\n\n{about}\n", *sections])


def strategies_page() -> str:
    """Every pooling strategy with its options."""
    sections = [
        f"## {name}\n\n{plain(_paragraphs(strategy.help))}\n\n"
        + table(
            ("Option", "Default", "Meaning"),
            [
                (
                    f"`--{option.replace('_', '-')}`",
                    f"`{default}`" if default else "",
                    plain(str(PARAMETERS[option].help)),
                )
                for option, default in strategy.takes.items()
            ],
        )
        + "\n"
        for name, strategy in STRATEGIES.items()
    ]
    about = "The values of `annotator pool build --strategy`, of `pool plan` and of the form that plans a pool."
    return "\n".join([f"{NOTE}# Pooling strategies\n\n{about}\n", *sections])


def policies_page() -> str:
    """Every consensus policy with the sentence that the manifest of the qrels has of it."""
    rows = [(f"`{name}`", plain(str(policy.sentence))) for name, policy in NAMED_POLICIES.items()]
    rows.append(("`judge:NAME`", plain(str(parse_policy("judge:NAME").sentence))))
    about = "The values of `annotator collections set --consensus` and of `qrels export --policy`."
    return f"{NOTE}# Consensus policies\n\n{about}\n\n{table(('Policy', 'The grade of a document'), rows)}\n"


def formats_page() -> str:
    """Every format of files that are read and that are written: its name, whose files have it, an example."""
    sections = ["## What is read\n"]
    for holds, formats in FORMATS.items():
        title = holds.value[0].upper() + holds.value[1:]
        sections.append(f"### {title}\n")
        for one in sorted(formats, key=lambda one: one.name != TREC):
            example = f"\n\n```text\n{one.example}```" if one.example else ""
            writer = f" Written by `annotator {one.writer}`." if one.writer else ""
            sections.append(f"#### {one.title}: `{one.name}`\n\n{one.about}{writer}{example}\n")
    about = (
        "The format of a file that is read is detected from its content, in the order of this page, and reported by "
        "imports and pages where it is not TREC's columns; `--input-format NAME` names it, and `--qrels-format NAME` "
        "that of qrels beside runs. Every file may be compressed with gzip, bzip2, xz or Zstandard. "
        "In place of a file, `topics import`, `documents import` and `judgements import` take a folder of BEIR or of "
        "Hugging Face's `datasets`, and `--from ir_datasets:NAME` where the package ir_datasets is installed. A "
        "problem is reported with its line, in Parquet with its row, and nothing of the file is stored."
    )
    return "\n".join([f"{NOTE}# Formats\n\n{about}\n", *sections, *_output_formats()])


def _output_formats() -> Iterator[str]:
    yield (
        "## What is written\n\n`--format NAME` of the commands named below, `format=NAME` of the API's operations, and "
        "the links of the pages. Each is read back in a test, by the package it is for where that can be installed.\n"
    )
    for writes, formats in OUTPUTS.items():
        yield f"### {writes.value[0].upper()}{writes.value[1:]}\n"
        for one in formats:
            commands = ", ".join(f"`annotator {command}`" for command in one.commands)
            example = f"\n\n```text\n{one.example}```" if one.example else ""
            yield f"#### {one.title}: `{one.name}`\n\n{one.about} Written by {commands}.{example}\n"


def settings_page() -> str:
    """Every setting: its variable, default and meaning."""
    comments = attribute_comments(settings.Settings)
    defaults = settings.Settings()
    rows = []
    for name, kind in settings.KINDS.items():
        default = kind.write(getattr(defaults, kind.field))
        rows.append((f"`{settings.PREFIX}{name.upper()}`", f"`{default}`" if default else "", comments[kind.field]))
    about = (
        "Settings are environment variables, or keys of a TOML file in lower case without `ANNOTATOR_`, which "
        "`annotator --settings FILE` or `ANNOTATOR_SETTINGS` names. The environment overrides the file. An unknown "
        "name or a wrong value stops the start with a message that names it."
    )
    return f"{NOTE}# Settings\n\n{about}\n\n{table(('Variable', 'Default', 'Meaning'), rows)}\n"


def attribute_comments(of: type) -> dict[str, str]:
    """The `#:` comments of a class by the attribute below each."""
    lines = inspect.getsource(of).splitlines()
    [body] = ast.parse("\n".join(lines)).body
    assert isinstance(body, ast.ClassDef)  # noqa: S101 - the source of a class
    comments = {}
    for one in body.body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            comment = lines[one.lineno - 2].strip()
            if comment.startswith("#: "):
                comments[one.target.id] = comment.removeprefix("#: ")
    return comments


def ways_page() -> str:
    """What not every way can do: pages, commands and API, with the reasons of the matrix that a test compares."""
    ways = runpy.run_path(str(MATRIX))["WAYS"]
    rows = []
    for name, one in ways.items():
        pages, commands, operations = one.listed()
        cells = (
            "yes" if pages else one.no_page,
            ", ".join(f"`{command}`" for command in sorted(commands)) or one.no_command,
            ", ".join(f"`{endpoint.partition('.')[2]}`" for endpoint in sorted(operations)) or one.no_operation,
        )
        if not (pages and commands and operations):
            rows.append((f"{name[0].upper()}{name[1:]}", *cells))
    about = (
        f"{len(ways) - len(rows)} of {len(ways)} actions can be done by page, by command and through the API. These "
        "are the others; the reason stands where a way is missing. A test keeps the list complete."
    )
    return f"{NOTE}# Pages, commands and the API\n\n{about}\n\n{table(('Action', 'Page', 'Command', 'API'), rows)}\n"


def api_page() -> str:
    """Every operation and every object of the OpenAPI document."""
    document = openapi()
    sections = [
        f"## {tag['name'].capitalize()}\n\n{plain(tag['description'])}\n\n"
        + "\n".join(_operations(document, tag["name"]))
        for tag in document["tags"]
    ]
    objects = [
        f"### {name}\n\n{plain(one.get('description', ''))}\n\n{_properties(one)}\n"
        for name, one in sorted(document["components"]["schemas"].items())
    ]
    about = f"{plain(document['info']['description'])}\n\nA site serves this document at `/api/v1/openapi.json`."
    return "\n".join([f"{NOTE}# API\n\n{about}\n", *sections, "## Objects\n", *objects])


def openapi() -> dict[str, Any]:
    """The OpenAPI document that a site serves."""
    app = create_app(settings.Settings(secret_key="0123456789abcdef" * 4), Database(IN_MEMORY))
    document: dict[str, Any] = json.loads(app.test_client().get("/api/v1/openapi.json").text)
    return document


def _operations(document: Mapping[str, Any], tag: str) -> Iterator[str]:
    for path, methods in document["paths"].items():
        shared = methods.get("parameters", [])
        for method, one in methods.items():
            if method == "parameters" or tag not in one["tags"]:
                continue
            gate = [
                f"{label}: {', '.join(one[key])}."
                for label, key in (("Scopes", "x-scopes"), ("Roles", "x-roles"))
                if one.get(key)
            ]
            words = dict.fromkeys((one.get("summary"), one.get("description"), " ".join(gate)))
            text = "\n\n".join(filter(None, words))
            yield (
                f"### {method.upper()} {path}\n\n{plain(text)}\n\n{_parameters([*shared, *one.get('parameters', [])])}"
                f"{_bodies(one)}"
            )


def _parameters(parameters: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (f"`{one['name']}`", plain(shape_of(one["schema"])), plain(one.get("description", ""))) for one in parameters
    ]
    return f"{table(('Parameter', 'Type', 'Meaning'), rows)}\n\n" if rows else ""


def _bodies(operation: Mapping[str, Any]) -> str:
    request = [
        f"Request body: {shape_of(content['schema']) if media == 'application/json' else media}."
        for media, content in operation.get("requestBody", {}).get("content", {}).items()
    ]
    answers = [
        f"Answer {status}: {plain(shape_of(content['schema']) if media == 'application/json' else media)}."
        for status, answer in operation["responses"].items()
        for media, content in answer.get("content", {}).items()
        if status.startswith("2")
    ]
    return "".join(f"{line}\n\n" for line in (*map(plain, request), *answers))


def _properties(schema: Mapping[str, Any]) -> str:
    rows = [
        (f"`{name}`", plain(shape_of(one)), plain(one.get("description", "")))
        for name, one in schema.get("properties", {}).items()
    ]
    return table(("Property", "Type", "Meaning"), rows) if rows else ""


def _commands(*, on_site: bool = False) -> dict[str, click.Command]:
    context = click.Context(main)
    context.params["site"] = "https://annotator.example.org" if on_site else None
    found = {name: main.get_command(context, name) for name in main.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def _paragraphs(text: str) -> str:
    """A docstring or help text with one line for each paragraph."""
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n"))


def plain(text: str) -> str:
    """A text as Markdown that shows it as it is; code in backticks stays code."""
    parts = text.split("`")
    return "`".join(part if at % 2 else MARKUP.sub(r"\\\1", part) for at, part in enumerate(parts))


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(' '.join(cell.split()) for cell in row)} |" for row in lines)


PAGES: Mapping[str, Callable[[], str]] = {
    "commands.md": commands_page,
    "commands-on-site.rst": commands_on_site_page,
    "measures.md": measures_page,
    "strategies.md": strategies_page,
    "policies.md": policies_page,
    "formats.md": formats_page,
    "settings.md": settings_page,
    "api.md": api_page,
    "ways.md": ways_page,
    "openapi.json": lambda: json.dumps(openapi(), indent=1, ensure_ascii=False) + "\n",
}

if __name__ == "__main__":
    write_pages()
