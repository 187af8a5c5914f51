"""What is strange in a run: told with counts and first lines, and only what is there."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from annotator.errors import Problems
from annotator.evaluation.runs.docno_numbers import DocnoNumbers
from annotator.evaluation.runs.numbered_runs import read_numbered_run
from annotator.evaluation.runs.run_intake import DocumentIds
from annotator.evaluation.runs.run_warnings import as_stored, from_stored, warnings_of

TOPICS = ["1", "2", "3"]
Line = tuple[str, str, int | str, float]  # topic, docno, rank, score


def warnings(text: str, *, topics: list[str] | None = None, most: int = 1000, tag: str = "t") -> list[str]:
    problems = Problems()
    run = read_numbered_run("a.run", text.encode(), problems, DocnoNumbers(), topics=TOPICS, tag=tag)
    assert run is not None, problems.first
    told = warnings_of(run, topics=run.topics if topics is None else topics, most_documents=most)
    assert from_stored(json.loads(json.dumps(as_stored(told)))) == tuple(told)
    return [str(sentence) for sentence in told]


def lines(*rows: Line) -> str:
    return "".join(f"{topic} Q0 {docno} {rank} {score} t\n" for topic, docno, rank, score in rows)


def test_a_usual_run_has_no_warning() -> None:
    assert warnings(lines(("1", "a", 1, 9), ("1", "b", 2, 8), ("2", "b", 1, 0.5), ("2", "a", 2, -1))) == []
    # Ranks from 0 and with gaps, lines in any order.
    assert warnings(lines(("1", "b", 7, 8), ("2", "b", 0, 0.5), ("1", "a", 0, 9))) == []


def test_topics_left_out_are_named_in_their_natural_order() -> None:
    [told] = warnings(lines(("2", "a", 1, 1)), topics=[str(number) for number in (10, 9, 8, 7, 6, 2, 1)])
    assert told == "Topics that the run leaves out: 6 of 7 (1, 6, 7, 8, 9, …)."
    # A topic that is not wanted, such as a dropped one, may be answered.
    assert warnings(lines(("2", "a", 1, 1), ("3", "a", 1, 1)), topics=["2"]) == []


def test_ranks_that_contradict_the_scores() -> None:
    # By score: c, a, b. The documents b (rank 2) and a (rank 1) stand behind c, whose rank is 3.
    text = "# mine\n" + lines(("1", "a", 1, 5), ("1", "b", 2, 4), ("1", "c", 3, 9), ("2", "a", 1, 1), ("2", "b", 2, 0))
    [told] = warnings(text)
    assert told == (
        "Topics in which the rank column contradicts the scores: 1; lines whose score puts them behind a worse rank: "
        "2; first lines: 2, 3. Ranks are not read: the order is that of the scores."
    )


def test_scores_that_rise_with_the_rank_are_told_apart() -> None:
    text = lines(
        *(("1", f"d{rank}", rank, rank / 10) for rank in range(1, 8)),
        *(("2", f"d{rank}", rank, 1 / rank) for rank in range(1, 8)),
    )
    [told] = warnings(text)
    assert told == (
        "Topics in which the scores rise from the best rank to the worst: 1; lines: 7; first lines: 1, 2, 3, 4, 5, …. "
        "Ranks are not read and the highest score counts as the best: make sure that the scores are no distances."
    )


def test_ties_are_counted_and_are_no_contradiction() -> None:
    # trec_eval puts b before a; the ranks say otherwise. Equal scores of two topics, or apart in one, are no ties.
    text = lines(("1", "a", 1, 5), ("1", "b", 2, 5), ("1", "c", 3, 4), ("2", "a", 1, 4), ("2", "b", 2, 3))
    [told] = warnings(text)
    assert told == (
        "Documents that share their score with another of their topic: 2; topics: 1; first lines: 1, 2. Among them "
        "the greater document id comes first, as in trec_eval, whatever their ranks."
    )


def test_equal_ranks_contradict_nothing() -> None:
    assert warnings(lines(("1", "a", 0, 5), ("1", "b", 0, 6), ("1", "c", 0, 4))) == []


def test_ranks_that_are_no_numbers_leave_their_list_out_of_the_comparison() -> None:
    text = lines(("1", "a", "x", 5), ("1", "b", 2, 4), ("1", "c", 3, 9), ("2", "a", 2, 1), ("2", "b", 3, 0))
    assert warnings(text) == [
        "Lines whose rank is no whole number: 1; first lines: 1. Ranks are not read: the order is that of the scores."
    ]


def test_lists_that_are_too_long_are_told_with_the_first_line_past_the_limit() -> None:
    # Topics take turns: the third document of topic 1 stands on line 5, though its score is the best.
    rows = [("1", "a", 1, 1.0), ("2", "a", 1, 3.0), ("1", "b", 2, 2.0), ("2", "b", 2, 2.0), ("1", "c", 0, 9.0)]
    [_, told] = warnings(lines(*rows), most=2)
    assert told == "Topics with more than 2 documents: 1; the longest list has 3; first lines past that: 5."
    assert len(warnings(lines(*rows), most=3)) == 1


@pytest.mark.parametrize(
    ("tag", "told"),
    [
        ("A-z_0.9", []),
        ("x" * 20, []),
        ("x" * 21, ["is 21 characters long"]),
        ("a+b", ["has signs other"]),
        ("태그", ["has signs other"]),
        ("ü" * 21, ["is 21 characters long", "has signs other"]),
    ],
)
def test_a_tag_that_other_tools_do_not_take(tag: str, told: list[str]) -> None:
    found = warnings("1 Q0 a 1 1 t\n", tag=tag)
    assert len(found) == len(told)
    assert all(words in sentence for words, sentence in zip(told, found, strict=True))


def test_a_run_of_the_corpus_has_no_warning_of_it() -> None:
    numbers = DocnoNumbers()
    run = read_numbered_run("a.run", b"1 Q0 a 1 9 t\n", Problems(), numbers, topics=TOPICS, tag=None)
    ids = DocumentIds(numbers, corpus_is_loaded=True)
    ids.take([("a", 1, True)])
    assert run is not None
    assert ids.warnings_of(run) == []


def test_documents_that_the_corpus_lacks() -> None:
    numbers = DocnoNumbers()
    text = lines(("1", "a", 1, 9), ("1", "x", 2, 8), ("2", "x", 1, 7), ("2", "y", 2, 6), ("2", "b", 3, 5))
    run = read_numbered_run("a.run", text.encode(), Problems(), numbers, topics=TOPICS, tag=None)
    assert run is not None
    for corpus_is_loaded in (False, True):
        ids = DocumentIds(numbers, corpus_is_loaded=corpus_is_loaded)
        ids.take([("a", 1, True), ("b", 2, True), ("x", 3, False), ("other", 4, True)])
        told = [str(sentence) for sentence in ids.warnings_of(run)]
        assert (
            told
            == ["Documents that are not in the corpus: 2; lines with them: 3; first lines: 2, 3, 4."] * corpus_is_loaded
        )


@settings(max_examples=examples(300))
@given(st.lists(st.tuples(st.sampled_from("12"), st.integers(0, 6), st.integers(0, 4)), min_size=1, max_size=12))
def test_contradictions_and_ties_are_those_of_the_definition(drawn: list[tuple[str, int, int]]) -> None:
    rows = [(topic, f"d{number}", rank, float(score)) for number, (topic, rank, score) in enumerate(drawn)]
    behind_worse = [
        number
        for number, (topic, _, rank, score) in enumerate(rows, 1)
        if any(other[0] == topic and other[3] > score and other[2] > rank for other in rows)
    ]
    tied = [
        number
        for number, (topic, _, _, score) in enumerate(rows, 1)
        if sum(other[0] == topic and other[3] == score for other in rows) > 1
    ]
    told = warnings(lines(*rows))
    assert any("share their score" in sentence for sentence in told) == bool(tied)
    assert any("no distances" in sentence or "contradicts" in sentence for sentence in told) == bool(behind_worse)
    for sentence in told:
        if "share their score" in sentence:
            assert f"topic: {len(tied)};" in sentence
            assert f"first lines: {', '.join(map(str, tied[:5]))}" in sentence
        elif "contradicts" in sentence and not any("no distances" in other for other in told):
            assert f"worse rank: {len(behind_worse)};" in sentence
            assert f"first lines: {', '.join(map(str, behind_worse[:5]))}" in sentence
