"""What the documents show: every command with its options exists, and the example of every format is taken in."""

import re
import shlex
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import click
import pytest
from cli.command_line import CommandLine, every_command

ROOT = Path(__file__).parents[2]
BUILT = {"_build", "generated"}
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if not BUILT & {*path.parts}),
]
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EXAMPLE = re.compile(r"^`([\w.-]+)`:\n\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)
OF_THE_ROOT = {"--database", "--settings", "--site", "--token", "--version", "--help"}
# What stands for any command or collection.
PLACEHOLDERS = {"COMMAND", "명령"}


def shown(document: Path) -> Iterator[list[str]]:
    """The words of every command of ours in the blocks of a document and in its backticks."""
    text = document.read_text(encoding="utf-8")
    for block in SHELL.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            yield from commands_of(line)
    for code in re.findall(r"`(annotator [^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)):
        yield from commands_of(code)


def commands_of(line: str) -> Iterator[list[str]]:
    """The words of each `annotator` of a line of the shell, up to what the shell itself reads."""
    reader = shlex.shlex(line, posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    for is_shell, words in groupby(reader, key=lambda word: set(word) <= set("();<>|&")):
        name, *rest = words
        if not is_shell and name == "annotator":
            yield rest


def unknown(words: list[str], commands: dict[str, list[click.Command]]) -> list[str]:
    """What of a command's words nothing takes: the command itself, or options."""
    if words[0] in PLACEHOLDERS or words[0].startswith("-"):
        return [word for word in words if word.startswith("--") and word not in OF_THE_ROOT]
    names = [" ".join(words[:count]) for count in (4, 3, 2, 1)]
    name = next((name for name in names if name in commands), None)
    if name is None:
        return [] if any(known.startswith(f"{words[0]} ") for known in commands) and len(words) == 1 else words
    known = {option for command in commands[name] for parameter in command.params for option in parameter.opts}
    known |= {
        option for command in commands[name] for parameter in command.params for option in parameter.secondary_opts
    }
    options = [word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    return [option for option in options if option not in known | OF_THE_ROOT]


@pytest.fixture(scope="module")
def commands() -> dict[str, list[click.Command]]:
    """Every command by its words: the one of a database, the one of a site, or both."""
    found: dict[str, list[click.Command]] = {}
    for on_site in (False, True):
        for words, command in every_command(on_site=on_site).items():
            found.setdefault(words, []).append(command)
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
def test_every_command_of_the_documents_exists_with_its_options(
    document: Path, commands: dict[str, list[click.Command]]
) -> None:
    assert {" ".join(words): strange for words in shown(document) if (strange := unknown(words, commands))} == {}


def test_a_command_that_does_not_exist_is_found(commands: dict[str, list[click.Command]]) -> None:
    assert unknown(["pool", "fill", "news"], commands)
    assert unknown(["pool", "show", "news", "--deep"], commands) == ["--deep"]
    assert unknown(["leaderboard", "show", "news", "--own"], commands) == []


def test_the_example_of_each_format_is_taken_in(annotator: CommandLine) -> None:
    text = (ROOT / "docs/how-to/formats.md").read_text(encoding="utf-8")
    examples = dict(EXAMPLE.findall(text))
    for name, content in examples.items():
        Path(name).write_text(content, encoding="utf-8")
    scale = "0=Not relevant,1=Relevant,2=Highly relevant"
    annotator.done("collections", "add", "news", "--title", "News", "--scale", scale)
    topics = [name for name in examples if name.startswith("topics.")]
    documents = [name for name in examples if name.startswith("documents.")]
    assert (len(topics), len(documents)) == (5, 3)
    for name in topics:
        annotator.done("check", name, "ours.run")
        assert "Topics: " in annotator.talk("topics", "import", "news", name)
    for name in documents:
        annotator.done("documents", "import", "news", name)
    annotator.done("runs", "import", "news", "ours.run")
    annotator.done("pool", "build", "news", "--depth", "10", "--yes")
    annotator.done("members", "import", "news", "people.csv")
    annotator.done("training", "import", "news", "training.tsv")
    annotator.done("gold-questions", "import", "news", "known.tsv")
    annotator.done("judgements", "import", "news", "known.qrels", "--judge", "known")
    annotator.done("evaluate", "known.qrels", "ours.run")
    assert len(annotator.table("qrels", "export", "news")) == 2
