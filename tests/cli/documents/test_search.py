"""`annotator documents search` and `annotator documents index`."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from cli.command_line import CommandLine

from annotator.cli.site import terminal
from annotator.cli.site.progress import steps_shown
from annotator.workflows.documents import search

TEXTS = (
    '{"docno": "a", "title": "검색시스템", "body": "평가한다."}\n'
    '{"docno": "e", "title": "Cats", "body": "The cat sat."}\n'
    '{"docno": "f", "title": "More cats", "body": "Cats sit."}\n'
)


@pytest.fixture
def texts(pooled: CommandLine) -> CommandLine:
    """The pooled collection, 1 → a b c d and 2 → a e, with texts of a, e and f."""
    pooled.done("documents", "import", "news", "-", given=TEXTS)
    return pooled


def test_what_is_found_is_listed_with_whether_it_is_pooled_for_the_topic(texts: CommandLine) -> None:
    assert texts.table("documents", "search", "news", "검색 평가") == [["a", "-", "검색시스템"]]
    result = texts("documents", "search", "news", "cats", "--for-topic", "2")
    assert sorted(line.split() for line in result.stdout.splitlines()[1:]) == [
        ["e", "yes", "Cats"],
        ["f", "no", "More", "cats"],
    ]
    assert result.stderr == "Documents found: 2, shown: 2.\n"
    assert len(texts.table("documents", "search", "news", "cats", "--most", "1")) == 1


def test_a_command_says_that_more_match_than_it_lists(texts: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotator.storage.documents.search.MOST_RANKED", 1)
    result = texts("documents", "search", "news", "cats")
    assert [line.split()[0] for line in result.stdout.splitlines()[1:]] == ["e"]
    assert result.stderr.splitlines()[-1] == "More documents match: add words to narrow the search."


def test_what_is_found_is_added_for_the_person_who_searched(texts: CommandLine) -> None:
    texts.done("users", "add", "ola", given="a long password\n")
    add = ("documents", "search", "news", "cat*", "--for-topic", "2", "--add-to-pool")
    assert "Version 2 of the pool: 1 added, 1 already pooled." in texts.talk(*add, "--searcher", "ola")
    assert "Version 2 of the pool: 0 added, 2 already pooled." in texts.talk(*add)
    assert texts.table("pool", "show", "news")[1][:2] == ["2", "search"]
    result = texts(*add, "--searcher", "nobody")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (1, "There is no user “nobody”.")


def test_a_bad_query_is_refused_in_a_sentence(texts: CommandLine) -> None:
    [sentence] = texts.refused("documents", "search", "news", "cats AND")
    assert sentence.startswith("AND at character 6 has nothing behind it")


@pytest.mark.parametrize("option", [["--add-to-pool"], ["--searcher", "ola"]])
def test_adding_needs_a_topic(texts: CommandLine, option: list[str]) -> None:
    result = texts("documents", "search", "news", "cats", *option)
    assert result.exit_code == 2
    assert "need the --for-topic" in result.stderr


def test_the_index_is_made_anew(texts: CommandLine) -> None:
    assert texts.talk("documents", "index", "news") == "Documents indexed: 3.\n"
    assert len(texts.table("documents", "search", "news", "cats")) == 2


def test_a_search_says_what_it_cannot_find_yet_and_the_next_import_goes_on(
    texts: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken_off:
        broken_off.setattr(search, "index_rest", lambda _database: iter(()))
        texts.done("documents", "import", "news", "-", given='{"docno": "g", "body": "cats"}\n')
    result = texts("documents", "search", "news", "cats")
    assert result.stderr == (
        "Documents found: 2, shown: 2.\nDocuments that no search finds yet, because they are not indexed: 1.\n"
    )
    texts.done("documents", "import", "news", "-", given='{"docno": "h", "body": "dogs"}\n')
    assert texts("documents", "search", "news", "cats").stderr == "Documents found: 3, shown: 3.\n"
    assert len(texts.table("documents", "search", "news", "dogs")) == 1


def test_indexing_is_shown_in_a_terminal_as_far_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[int, int]] = []

    @contextmanager
    def bar_to(_title: str, _steps: int | None) -> Iterator[Callable[[int, int], None]]:
        yield lambda done, steps: shown.append((done, steps))

    monkeypatch.setattr(terminal, "bar_to", bar_to)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with steps_shown("Indexing", 5) as show:
        show(3)
        show(4)
    # More than was imported, for others' documents are indexed as well.
    assert shown == [(3, 5), (7, 7)]


def test_a_document_is_shown_line_by_line_and_whole_to_programs(texts: CommandLine) -> None:
    texts.done(
        "documents", "import", "news", "-", given='{"docno": "g", "title": "Two", "body": "One line.\\nAnother."}\n'
    )
    shown = texts.table("documents", "show", "news", "g")
    assert shown[-2:] == [["text", "One", "line."], ["text", "Another."]]
    found = json.loads(texts.done("documents", "show", "news", "g", "--format", "json"))
    assert (found["docno"], found["title"], found["text"]) == ("g", "Two", "One line.\nAnother.")
    assert "“z”" in texts.refused("documents", "show", "news", "z")[0]
