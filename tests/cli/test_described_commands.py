"""What help and completion show is what the commands themselves would, and a command that runs is the real one."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click
import pytest
from cli.command_line import CommandLine
from click.testing import CliRunner

from annotator.cli import main
from annotator.cli.describe_commands import real_nouns
from annotator.cli.described_commands import DATABASE, DescribedGroup, described, descriptions

ON_SITE = pytest.mark.parametrize("on_site", [False, True], ids=["database", "site"])
Shown = Callable[[click.Command, click.Context], object]


@ON_SITE
@pytest.mark.parametrize("width", [50, 80, 100])
def test_help_is_that_of_the_real_command(width: int, *, on_site: bool) -> None:
    def shown(command: click.Command, context: click.Context) -> str:
        return command.get_help(context)

    described_ones, real_ones = both(shown, on_site=on_site, width=width)
    assert len(real_ones) > 30
    assert described_ones == real_ones


@ON_SITE
def test_options_are_completed_as_by_the_real_command(*, on_site: bool) -> None:
    def shown(command: click.Command, context: click.Context) -> list[tuple[str, str | None]]:
        return [(item.value, item.help) for item in command.shell_complete(context, "-")]

    described_ones, real_ones = both(shown, on_site=on_site)
    assert described_ones == real_ones


@ON_SITE
def test_values_and_subcommands_are_completed_as_by_the_real_command(*, on_site: bool) -> None:
    def shown(command: click.Command, context: click.Context) -> list[object]:
        offered = [(one.name, one.nargs, one.shell_complete(context, "")) for one in command.get_params(context)]
        completed = [(name, nargs, [(item.value, item.type) for item in items]) for name, nargs, items in offered]
        return [*completed, [item.value for item in command.shell_complete(context, "")]]

    described_ones, real_ones = both(shown, on_site=on_site)
    assert described_ones == real_ones


def test_the_command_that_runs_is_the_real_one() -> None:
    with main.make_context("annotator", ["runs", "list", "news"]) as context:
        _, group, rest = main.resolve_command(context, ["runs", "list", "news"])
        assert isinstance(group, DescribedGroup)
        _, command, _ = group.resolve_command(click.Context(group, parent=context), rest)
    assert command is real_nouns(on_site=False)["runs"].commands["list"]  # type: ignore[attr-defined]


def test_from_outside_the_tree_of_commands_is_the_real_one() -> None:
    context = click.Context(main)
    leaves = [leaf for name in main.list_commands(context) for leaf in leaves_of(main.get_command(context, name))]
    assert len(leaves) > 100
    assert all(leaf.callback is not None for leaf in leaves)


def leaves_of(command: click.Command | None) -> Iterator[click.Command]:
    if isinstance(command, click.Group):
        for one in command.commands.values():
            yield from leaves_of(one)
    elif command is not None:
        yield command


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_what_looks_like_help_may_be_a_value_or_a_name(news: CommandLine, word: str) -> None:
    news.done("collections", "set", "news", "--title", word)
    [row] = news.table("collections", "list")
    assert word in row
    assert news.refused("topics", "list", "--", word) == [f"There is no collection “{word}”."]


def test_help_comes_before_what_is_missing_or_wrong(annotator: CommandLine) -> None:
    for words in (["pool", "build", "--depth", "ten", "-h"], ["runs", "check", "-h", "news"], ["serve", "--help"]):
        assert annotator.done(*words).startswith("Usage: main ")


def test_an_option_that_does_not_exist_is_refused_beside_help(annotator: CommandLine) -> None:
    for words in (["runs", "list", "--nonsense", "--help"], ["runs", "list", "--help", "--nonsense"]):
        result = annotator(*words)
        assert result.exit_code == 2
        assert "--nonsense" in result.stderr


def test_a_command_that_is_not_described_runs_nevertheless(
    annotator: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = descriptions()[DATABASE]["users"]
    without = {**users, "commands": {name: one for name, one in users["commands"].items() if name != "list"}}
    for nouns in ({}, {"users": without}):
        trees: Mapping[str, Mapping[str, Any]] = {"database": nouns, "site": {}}
        monkeypatch.setattr("annotator.cli.described_commands.descriptions", lambda trees=trees: trees)
        assert annotator.table("users", "list") == []
        assert CliRunner().invoke(main, ["users", "list", "--help"]).stdout.startswith("Usage: main users list ")


def both(shown: Shown, *, on_site: bool, width: int = 80) -> tuple[dict[str, object], dict[str, object]]:
    """What is shown of every command, described and real."""
    root = click.Context(main, info_name="annotator", terminal_width=width, **main.context_settings)
    real = real_nouns(on_site=on_site)
    drawn = {name: described(name, on_site=on_site, load=lambda: pytest.fail("imported")) for name in real}
    tree = {name: one for name, one in drawn.items() if one is not None}
    return dict(of_all(tree, root, shown)), dict(of_all(real, root, shown))


def of_all(commands: Mapping[str, click.Command], above: click.Context, shown: Shown) -> Iterator[tuple[str, object]]:
    for name, command in commands.items():
        context = click.Context(command, info_name=name, parent=above)
        yield context.command_path, shown(command, context)
        if isinstance(command, click.Group):
            yield from of_all(command.commands, context, shown)
