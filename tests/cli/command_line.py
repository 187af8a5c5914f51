"""The command line as a test calls it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from click.testing import CliRunner, Result

from annotator.cli import main


@dataclass(frozen=True)
class CommandLine:
    """`annotator` over one database; the working folder is the test's own."""

    url: str

    def __call__(self, *words: str, given: str | bytes | None = None) -> Result:
        """Run a command; `given` is its standard input."""
        # A bug is to fail the test that meets it, not to look like a refusal.
        return CliRunner().invoke(main, ["--database", self.url, *words], input=given, catch_exceptions=False)

    def done(self, *words: str, given: str | bytes | None = None) -> str:
        """Run a command that must succeed; its standard output."""
        result = self(*words, given=given)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    def talk(self, *words: str, given: str | bytes | None = None) -> str:
        """Run a command that must succeed; its standard error."""
        result = self(*words, given=given)
        assert result.exit_code == 0, result.stderr
        return result.stderr

    def refused(self, *words: str, given: str | bytes | None = None) -> list[str]:
        """Run a command that must be refused; the lines of its standard error."""
        result = self(*words, given=given)
        assert result.exit_code == 1, (result.stdout, result.stderr)
        assert result.stdout == ""
        return result.stderr.splitlines()

    def table(self, *words: str) -> list[list[str]]:
        """Run a command that must succeed; the words of the lines under the headings, up to an empty line."""
        lines = self.done(*words).split("\n\n")[0].splitlines()
        return [line.split() for line in lines[1:]]


def every_command(*, on_site: bool = False) -> dict[str, click.Command]:
    """Every command by its words, without groups; of a local database, or of a site."""
    context = click.Context(main)
    context.params["site"] = "https://example.org" if on_site else None
    return {
        words: command
        for name in main.list_commands(context)
        if (top := main.get_command(context, name)) is not None
        for words, command in _below(name, top)
    }


def _below(words: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield words, command
        return
    for name, one in command.commands.items():
        yield from _below(f"{words} {name}", one)


def write_run(tag: str, ranked: Sequence[str]) -> None:
    """A file TAG.run in the working folder, from `TOPIC DOCNO` best first."""
    lines = [
        f"{topic} Q0 {docno} {place} {100 - place} {tag}\n"
        for place, (topic, docno) in enumerate((pair.split() for pair in ranked), start=1)
    ]
    Path(f"{tag}.run").write_text("".join(lines))
