"""`annotator collections pages`: what everybody may read, and the same as files."""

import json
from pathlib import Path

import pytest
from cli.command_line import CommandLine


@pytest.fixture
def released(pooled: CommandLine) -> CommandLine:
    """Two runs, some grades, and their scores released by a kept version of the qrels."""
    pooled.done("judgements", "import", "news", "-", "--judge", "jo", given="1 0 a 2\n1 0 b 0\n2 0 e 1\n")
    pooled.done("collections", "release", "news", "--early")
    return pooled


def test_pages_are_set_shown_and_written_to_a_new_folder(released: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "public"
    released.done(
        *("collections", "pages", "set", "news", "--scores", "everything", "--names", "-m", "P@5"),
        *("--description", "Find the news.\n", "--guidelines", "--citation", "We, 2027"),
    )
    shown = json.loads(released.done("collections", "pages", "show", "news", "--format", "json"))
    assert (shown["scores"], shown["names"], shown["measures"]) == ("everything", "names", "P@5")
    assert (shown["description"], shown["citation"]) == ("Find the news.", "We, 2027")
    released.done("collections", "pages", "export", "news", "-o", str(folder))
    assert len(list(folder.iterdir())) == 6
    assert "alpha" in (folder / "leaderboard.html").read_text()
    assert "Find the news." in (folder / "index.ko.html").read_text()
    [again] = released.refused("collections", "pages", "export", "news", "-o", str(folder))
    assert "empty" in again


def test_nothing_is_written_while_nothing_is_public(released: CommandLine, tmp_path: Path) -> None:
    [refused] = released.refused("collections", "pages", "export", "news", "-o", str(tmp_path / "public"))
    assert "Nothing of the collection is public" in refused
    assert not (tmp_path / "public").exists()


def test_a_veiled_name_in_the_description_is_refused(released: CommandLine) -> None:
    wanted = ("collections", "pages", "set", "news", "--scores", "relative", "--description", "Alpha is a run.")
    assert "description: The text has the name “alpha” of a team or run." in " ".join(released.refused(*wanted))
    released.done(*wanted, "--allow", "alpha")


def test_measures_and_allowed_names_are_cleared_by_an_empty_one(released: CommandLine) -> None:
    setting = ("collections", "pages", "set", "news")
    released.done(
        *setting, "--scores", "everything", "-m", "P@5", "--allow", "alpha", "--description", "Alpha is a word."
    )
    assert "P@5" in released.done("collections", "pages", "show", "news")
    assert "alpha" in released.done("collections", "pages", "show", "news")
    assert released.refused(*setting, "--allow", "")[0].startswith("description:")
    released.done(*setting, "-m", "", "--allow", "", "--description", "A word.")
    shown = released.done("collections", "pages", "show", "news")
    assert "alpha" not in shown
    assert "nDCG@10" in shown
