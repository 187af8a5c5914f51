"""The file of lists: what is written, what is read back, and every way in which it can be wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.clicks.evaluation.interleaving.interleaving import (
    NO_TEAM,
    InterleavedLists,
    Method,
    Placed,
    format_lists,
    interleave,
    parse_lists,
    refusal_of_tags,
)
from annotator.errors import Problems

HEADING = "topic\tlist\tposition\tdocno\tteam\tbm25\tdense\n"
GOOD = "7\t1\t1\tx\tbm25\t1\t-\n"
docnos = st.permutations("abcdef")


def parsed(text: str) -> tuple[InterleavedLists | None, list[str]]:
    problems = Problems()
    lists = parse_lists("lists.tsv", text.encode(), problems)
    return lists, [str(problem) for problem in problems.first]


def test_a_file_of_lists_says_who_picked_what_and_where_each_run_had_it() -> None:
    made = InterleavedLists(
        Method.TEAM_DRAFT,
        ("bm25", "dense"),
        {("7", 1): (Placed("x", 1, 0, (1, 0)), Placed("y", 2, 1, (3, 1)), Placed("z", 3, NO_TEAM, (0, 2)))},
    )
    written = format_lists(made, "how it was made")
    assert written.decode() == (
        "# how it was made\n"
        "topic\tlist\tposition\tdocno\tteam\tbm25\tdense\n"
        "7\t1\t1\tx\tbm25\t1\t-\n"
        "7\t1\t2\ty\tdense\t3\t1\n"
        "7\t1\t3\tz\t-\t-\t2\n"
    )


@given(docnos, docnos, st.sampled_from(list(Method)), st.integers(1, 8), st.integers(0, 9))
def test_what_is_written_is_read_back(
    first: list[str], second: list[str], method: Method, depth: int, seed: int
) -> None:
    made = interleave(
        {"A": {"1": first, "x/2": second}, "B": {"1": second, "x/2": second}}, method, depth=depth, lists=3, seed=seed
    )
    read, problems = parsed(format_lists(made, "").decode())
    assert problems == []
    assert read is not None
    assert (read.method, read.runs) == (made.method, made.runs)
    assert {key: tuple(placed) for key, placed in read.lists.items()} == made.lists


def test_comments_and_blank_lines_count_for_nothing_and_lines_may_end_as_on_windows() -> None:
    read, problems = parsed(f"# note\n\n{HEADING}{GOOD}\n# more\n".replace("\n", "\r\n"))
    assert problems == []
    assert read is not None
    assert read.lists == {("7", 1): [Placed("x", 1, 0, (1, 0))]}


NO_HEADING = "its heading must be topic, list, position, docno, team, and the tags of two or more runs"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("# only a comment\n", "lists.tsv", NO_HEADING),
        (GOOD, "lists.tsv:1", NO_HEADING),
        ("topic\tlist\tposition\tdocno\tteam\tbm25\n", "lists.tsv:1", NO_HEADING),
        (
            "topic\tlist\tposition\tdocno\ta\tb\tc\n",
            "lists.tsv:1",
            "balanced interleaving, which takes two runs, not 3",
        ),
        ("topic\tlist\tposition\tdocno\tteam\ta\t-\n", "lists.tsv:1", "The tag - means something else"),
        ("topic\tlist\tposition\tdocno\tteam\ta\ta\n", "lists.tsv:1", "Two runs have the tag a"),
        (HEADING, "lists.tsv", "has a heading and no list"),
        (HEADING + "7\t1\t1\tx\tbm25\t1\n", "lists.tsv:2", "The line has 6 columns, not 7"),
        (HEADING + "7 8\t1\t1\tx\tbm25\t1\t-\n", "lists.tsv:2", "The topic number '7 8' has blanks"),
        (HEADING + "7\t0\t1\tx\tbm25\t1\t-\n", "lists.tsv:2", "The list '0' is no whole number from 1"),
        (HEADING + "7\t1\t1.5\tx\tbm25\t1\t-\n", "lists.tsv:2", "The position '1.5' is no whole number from 1"),
        (HEADING + "7\t1\t1\t\tbm25\t1\t-\n", "lists.tsv:2", "The document has no id"),
        (HEADING + "7\t1\t1\tx\tBM25\t1\t-\n", "lists.tsv:2", "The team 'BM25' is no run of the heading"),
        (HEADING + "7\t1\t1\tx\tbm25\t1\t0\n", "lists.tsv:2", "The rank '0' by dense is neither"),
        (HEADING + GOOD + "7\t1\t2\tx\tbm25\t1\t-\n", "lists.tsv:3", "List 1 of topic 7 has the docno x already"),
        (HEADING + GOOD + "7\t1\t1\ty\tbm25\t1\t-\n", "lists.tsv:3", "List 1 of topic 7 has the position 1 already"),
    ],
)
def test_each_thing_wrong_is_told_with_its_line(text: str, place: str, words: str) -> None:
    read, [problem] = parsed(text)
    assert read is None
    assert problem.startswith(f"{place}: ")
    assert words in problem


def test_every_bad_line_is_told() -> None:
    _, problems = parsed(HEADING + "7\n" + GOOD + "8\t1\n")
    assert [problem.split(": ")[0] for problem in problems] == ["lists.tsv:2", "lists.tsv:4"]


@pytest.mark.parametrize(
    ("tags", "is_refused"), [(["a", "b"], False), (["a", "a"], True), (["team", "b"], True), (["-", "b"], True)]
)
def test_runs_must_be_told_apart_by_their_tags(tags: list[str], *, is_refused: bool) -> None:
    assert (refusal_of_tags(tags) is not None) is is_refused
