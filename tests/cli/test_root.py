"""The root of the command line: help, global options, exit codes, what a refusal looks like."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from cli.command_line import CommandLine, every_command, write_run
from click.testing import CliRunner
from sqlalchemy import text

from annotator.cli import main
from annotator.cli.root import NOUNS
from annotator.cli.site.files import FILE
from annotator.installed import PACKAGE
from annotator.storage import Database
from annotator.storage.site.schema import newest_version

PROGRAM = [sys.executable, "-m", "annotator"]
HEAVY = {
    "annotator.storage",
    "annotator.workflows",
    "alembic",
    "flask",
    "httpx",
    "numpy",
    "rich",
    "sqlalchemy",
    "uvicorn",
}


def test_help_names_every_noun() -> None:
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    for name, noun in NOUNS.items():
        assert f"  {name} " in result.stdout
        assert noun.summary in result.stdout


@pytest.mark.parametrize("name", NOUNS)
def test_each_noun_has_a_command_that_explains_itself(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"Usage: main {name} ")


def test_each_module_of_a_noun_is_reached() -> None:
    found = (
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for folder in ("cli", "clicks/cli")
        for path in (PACKAGE / folder).rglob("*.py")
    )
    with_command = {
        name
        for name in found
        if "on_site" not in name and ".remote." not in name and hasattr(import_module(name), "command")
    }
    assert with_command == {
        noun.module for noun in NOUNS.values() if noun.name == "command" and ".remote." not in noun.module
    }


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["runs"],
        ["runs", "import"],
        ["--site", "https://example.org", "runs", "import"],
        ["collections", "quality", "show"],
        ["pool", "build", "news", "--depth", "10"],
        ["serve"],
    ],
    ids=" ".join,
)
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    told, loaded = told_and_loaded(*words, "--help")
    assert told[0].startswith(" ".join(["Usage: annotator", *(word for word in words if word in NOUNS)]))
    assert not HEAVY & loaded


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("coll", ["collections"]),
        ("--set", ["--settings"]),
        ("runs wi", ["withdraw"]),
        ("runs import news --tea", ["--team"]),
        ("runs set news alpha --type a", ["automatic"]),
        ("collections quality s", ["show"]),
        ("check --form", ["--format"]),
        ("pool nonsense show --d", []),
    ],
)
def test_one_tab_imports_nothing_heavy(monkeypatch: pytest.MonkeyPatch, typed: str, offered: list[str]) -> None:
    monkeypatch.setenv("_ANNOTATOR_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"annotator {typed}")
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split())))
    completions, loaded = told_and_loaded()
    assert [line.split(",")[1] for line in completions if line] == offered
    assert not HEAVY & loaded


def told_and_loaded(*words: str) -> tuple[list[str], set[str]]:
    """What a command prints in a process of its own, and which modules it imported there."""
    called = f"from annotator.cli import main; main({list(words)}, prog_name='annotator')"
    then = f"import sys\ntry:\n    {called}\nexcept SystemExit:\n    pass\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", then], capture_output=True, check=True, text=True)  # noqa: S603 - our own words
    *lines, loaded = done.stdout.splitlines()
    return lines, set(loaded.split())


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["users", "nonsense"],
        ["users", "add"],
        ["runs", "import", "news"],
        ["pool", "build", "news"],
        ["pool", "build", "news", "--depth", "ten"],
        ["members", "add", "news", "jo", "--role", "king"],
        ["judgements", "export", "news", "--format", "xml"],
        ["judgements", "import", "news", "file"],
        ["collections", "set", "news"],
        ["leaderboard", "show", "news", "--qrels", "file", "--judge", "jo"],
        ["serve", "--port", "70000"],
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_status_2(annotator: CommandLine, words: list[str]) -> None:
    result = annotator(*words)
    assert result.exit_code == 2
    assert "Usage: " in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["collections", "add", "n", "--title", "caf\udce9", "--scale", "0=No,1=Yes"], "--title"),
        (["users", "add", "caf\udce9"], "NAME"),
        (["runs", "import", "news", "a.run", "--description", "\udcff"], "--description"),
        (["leaderboard", "show", "news", "-m", "AP", "-m", "\udce9"], "'-m' / '--measure'"),
        (["serve", "--host", "\udce9"], "--host"),
    ],
)
def test_an_argument_that_is_no_text_is_wrong_usage_and_named(
    annotator: CommandLine, words: list[str], name: str
) -> None:
    result = annotator(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    [sentence] = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert name in sentence
    assert sentence.endswith("It is not text in UTF-8.")


def test_the_path_of_a_file_need_not_be_text(news: CommandLine) -> None:
    write_run("alpha", ["1 a"])
    Path("alpha.run").rename("caf\udce9.run")
    news.done("runs", "import", "news", "caf\udce9.run")
    news.done("runs", "export", "news", "alpha", "-o", "\udcff.run")
    assert Path("\udcff.run").read_bytes() == Path("caf\udce9.run").read_bytes()


def test_each_argument_called_a_file_is_taken_as_a_path() -> None:
    parameters = [parameter for command in every_command().values() for parameter in command.params]
    files = [one for one in parameters if (one.metavar or (one.name or "").upper()).startswith("FILE")]
    assert len(files) >= 10
    assert [one.name for one in files if one.type is not FILE] == []


def test_a_refusal_is_one_sentence_on_standard_error(annotator: CommandLine) -> None:
    assert annotator.refused("topics", "list", "nowhere") == ["There is no collection “nowhere”."]


def test_a_refused_file_is_told_line_by_line_and_then_counted(news: CommandLine) -> None:
    Path("bad.run").write_text("1 Q0 a 1 high x\n9 Q0 b 2 3 x\n")
    first, second, count = news.refused("runs", "check", "news", "bad.run")
    assert first.startswith("bad.run:1: The score high is not")
    assert second.startswith("bad.run:2: ")
    assert count == "Problems found: 2."  # nothing was to be stored


def test_files_that_cannot_be_read_are_all_named(news: CommandLine) -> None:
    write_run("alpha", ["1 a"])
    Path("folder").mkdir()
    assert news.refused("runs", "import", "news", "alpha.run", "missing.run", "folder") == [
        "missing.run: The file cannot be read: No such file or directory.",
        "folder: The file cannot be read: Is a directory.",
        "Nothing was stored. Problems found: 2.",
    ]
    assert news.table("runs", "list", "news") == []


def test_a_setting_that_cannot_be_is_refused_by_its_name(
    annotator: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANNOTATOR_UPLOAD_LIMIT_MB", "much")
    [sentence] = annotator.refused("users", "list")
    assert "ANNOTATOR_UPLOAD_LIMIT_MB" in sentence


def test_a_database_url_that_is_none_is_refused() -> None:
    result = CliRunner().invoke(main, ["--database", "nonsense://here", "users", "list"])
    assert result.exit_code == 1
    assert "nonsense://here" in result.stderr


def test_the_option_comes_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, annotator: CommandLine
) -> None:
    other = CommandLine(f"sqlite:///{tmp_path}/other.sqlite")
    other.done("database", "upgrade")
    monkeypatch.setenv("ANNOTATOR_DATABASE_URL", other.url)
    annotator.done("users", "add", "jo", given="correct horse\n")
    assert CliRunner().invoke(main, ["users", "list"], catch_exceptions=False).stdout.splitlines()[1:] == []
    assert [name for name, *_ in annotator.table("users", "list")] == ["jo"]


def test_a_database_of_another_version_is_refused(sqlite_database: Database, annotator: CommandLine) -> None:
    with sqlite_database.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    sqlite_database.close()
    [sentence] = annotator.refused("users", "list")
    assert "annotator database upgrade" in sentence


def test_upgrading_makes_the_tables_of_this_version(tmp_path: Path) -> None:
    fresh = CommandLine(f"sqlite:///{tmp_path}/fresh.sqlite")
    assert fresh.talk("database", "upgrade") == "The tables are of this version.\n"
    assert fresh.talk("database", "upgrade") == "The tables are of this version.\n"
    assert fresh.table("users", "list") == []
    [line] = fresh.table("audit", "list")
    assert f"to: {newest_version()}" in " ".join(line)


@pytest.mark.process
def test_a_pipe_that_is_closed_early_is_no_trouble(news: CommandLine) -> None:
    write_run("alpha", [f"1 document-{number}" for number in range(20_000)])
    news.done("runs", "import", "news", "alpha.run")
    program = subprocess.Popen(  # noqa: S603 - our own command
        [*PROGRAM, "--database", news.url, "runs", "export", "news", "alpha"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert program.stdout is not None
    program.stdout.read(10)
    program.stdout.close()
    assert program.stderr is not None
    assert program.stderr.read() == b""
    program.stderr.close()
    program.wait()


KEY = f'secret_key = "{"0123456789abcdef" * 4}"\n'
PASSWORD = 'database_url = "postgresql+psycopg://us:word@host/site"\n'


@pytest.mark.parametrize(
    ("text", "mode", "held"),
    [
        (KEY, 0o644, "the secret key"),
        (KEY, 0o604, "the secret key"),
        (KEY + PASSWORD, 0o644, "the secret key and the password of the database"),
        (PASSWORD, 0o644, "the password of the database"),
        ('database_url = "postgresql+psycopg:///site?user=us&password=word"\n', 0o644, "the password of the database"),
        ('database_url = "postgresql+psycopg://us@host:5432/site"\n', 0o644, None),
        # A group of its own may read it, as where a service has one; and what is no secret is anybody's.
        (KEY, 0o640, None),
        (KEY, 0o600, None),
        ("port = 9000\n", 0o644, None),
    ],
)
def test_a_settings_file_with_secrets_that_others_can_read_is_warned_of(
    news: CommandLine, monkeypatch: pytest.MonkeyPatch, text: str, mode: int, held: str | None
) -> None:
    Path("site.toml").write_text(text)
    Path("site.toml").chmod(mode)
    warning = f"WARNING: every account of this machine can read site.toml, which holds {held}. Run: chmod 600 site.toml"
    monkeypatch.setenv("ANNOTATOR_SETTINGS", "site.toml")
    monkeypatch.setattr("annotator.cli.serving.serve.serve_pages", lambda *_, **__: None)
    for words in (("serve",), ("database", "check")):
        told = news.talk(*words).splitlines()
        assert (warning in told) is (held is not None)
        assert ("WARNING" in "".join(told)) is (held is not None)
    monkeypatch.delenv("ANNOTATOR_SETTINGS")
    assert (warning in news.talk("--settings", "site.toml", "database", "check")) is (held is not None)
    # Other commands leave their standard error to what they say.
    assert "WARNING" not in news.talk("--settings", "site.toml", "rounds", "list", "news")
