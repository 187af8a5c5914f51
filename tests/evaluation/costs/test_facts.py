"""What may be stated of a run: how it is read, converted, refused, and written so that it can be read again."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.costs.facts import KNOWN_FACTS, Fact, FactKind, Per, all_facts, own_column, stored_column
from annotator.evaluation.costs.statements import (
    Statement,
    check_together,
    read_address,
    read_lines,
    read_statement,
    those_that_fit,
    write_lines,
    write_value,
)
from annotator.evaluation.metrics.measures import Better

PRICE = own_column("price", "Price of a day", kind="number", unit="EUR", better="less")


@pytest.mark.parametrize(
    ("key", "written", "number"),
    [
        ("latency_p95", "48", 48),
        ("latency_p95", " 48.5 ms ", 48.5),
        ("latency_p95", "0.05 s", 50),
        ("latency_p95", "250us", 0.25),
        ("latency_p50", "250 µs", 0.25),
        ("latency_p50", "0", 0),
        ("indexing_time", "1.5 h", 5_400),
        ("indexing_time", "90 min", 5_400),
        ("indexing_rate", "1e4 docs/s", 10_000),
        ("index_size", "1.2 GB", 1_200),
        # 1 GiB has 1,073,741,824 bytes.
        ("index_size", "1 GiB", 1_073.741824),
        ("index_size", "512 kb", 0.512),
        ("corpus_size", "8841823 documents", 8_841_823),
    ],
)
def test_a_number_is_kept_in_the_unit_of_its_fact(key: str, written: str, number: float) -> None:
    assert read_statement(KNOWN_FACTS[key], written) == Statement(key, "", number)


@pytest.mark.parametrize(
    ("key", "written", "said"),
    [
        ("latency_p95", "fast", "“fast” is no number of ms such as “48.5 ms”"),
        ("latency_p95", "-1", "from 0 on and without a comma"),
        ("latency_p95", "1,200", "without a comma"),
        ("latency_p95", "48 GB", "“48 GB” is no number of ms"),
        ("latency_p95", "nan", "“nan” is no number"),
        ("latency_p95", "1e16", "“1e16” is too large a number"),
        ("latency_p95", "9" * 61, "is no number of ms"),
        ("latency_p95", "1e999 s", "is too large a number"),
        ("corpus_size", "2.5", "“2.5” is no whole number"),
        ("hardware", "x" * 301, "is too long: 301 characters, where at most 300 are possible"),
        ("hardware", "a \0 b", "a character that cannot be stored"),
    ],
)
def test_what_is_no_such_number_is_refused_in_a_sentence(key: str, written: str, said: str) -> None:
    with pytest.raises(InvalidValueError) as refusal:
        read_statement(KNOWN_FACTS[key], written)
    assert said in str(refusal.value)


def test_a_number_of_a_column_without_a_unit_is_refused_without_one() -> None:
    stars = own_column("stars", "Stars", kind="number")
    with pytest.raises(
        InvalidValueError, match=r"^“5 stars” is no number such as 48\.5, from 0 on and without a comma"
    ):
        read_statement(stars, "5 stars")


@pytest.mark.parametrize("written", ["", "  ", "\n"])
def test_nothing_written_states_nothing(written: str) -> None:
    assert read_statement(KNOWN_FACTS["latency_p95"], written) is None


def test_a_list_has_each_word_once_in_an_order_of_its_own() -> None:
    read = read_statement(KNOWN_FACTS["query_language"], "Phrase, free  text,Boolean,, phrase")
    assert read == Statement("query_language", words="boolean, free text, phrase")


def test_details_are_read_a_line_each_and_written_in_their_order() -> None:
    read = read_lines(KNOWN_FACTS["latency_at"], "1e6: 35 ms\n\n200000 documents: 0.01 s\n")
    assert read == [Statement("latency_at", "1000000", 35), Statement("latency_at", "200000", 10)]
    assert write_lines(read) == "200000: 10\n1000000: 35"
    assert [one.address for one in read] == ["latency_at@1000000", "latency_at@200000"]


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("latency_at", "35 ms", "“35 ms” is not a line such as “1000000: 35 ms”"),
        ("latency_at", "many: 35", "“many” is no number of documents such as 1000000"),
        ("latency_at", "0: 35", "“0” is no number of documents"),
        ("latency_at", "1.5: 35", "“1.5” is no number of documents"),
        ("latency_at", "5 MB: 35", "“5 MB” is no number of documents"),
        ("latency_at", ": 35", "Add a detail, as in “1000000: 35 ms”"),
        ("complex_query_time", "phrase:", "“phrase:” is not a line such as “phrase: 120 ms”"),
        ("complex_query_time", "a@b: 3", "“a@b” is no type of query"),
        ("complex_query_time", f"{'x' * 61}: 3", "is too long"),
    ],
)
def test_a_line_that_says_no_detail_is_refused(key: str, text: str, said: str) -> None:
    with pytest.raises(InvalidValueError) as refusal:
        read_lines(KNOWN_FACTS[key], text)
    assert said in str(refusal.value)


def test_what_is_stated_once_has_no_detail() -> None:
    with pytest.raises(InvalidValueError, match="“latency_p95” is stated once, and not for “phrase”"):
        read_statement(KNOWN_FACTS["latency_p95"], "48", "phrase")


@given(st.floats(0, 1e15))
def test_a_number_that_is_written_is_read_again(number: float) -> None:
    read = read_statement(KNOWN_FACTS["latency_p50"], write_value(Statement("latency_p50", number=number)))
    assert read is not None
    assert read.number == pytest.approx(number, rel=1e-11)
    assert read_statement(KNOWN_FACTS["latency_p50"], write_value(read)) == read


@given(st.text(max_size=80), st.sampled_from(sorted(KNOWN_FACTS)))
def test_whatever_is_written_is_read_or_refused_in_a_sentence(text: str, key: str) -> None:
    fact = KNOWN_FACTS[key]
    with suppress(InvalidValueError):
        read = read_lines(fact, text) if fact.per is not Per.SYSTEM else [read_statement(fact, text)]
        stated = [one for one in read if one is not None]
        assert those_that_fit(KNOWN_FACTS, stated) == tuple(stated)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (
            [Statement("latency_p50", number=60), Statement("latency_p95", number=50)],
            "The median latency, 60 ms, is above the 95th percentile, 50 ms",
        ),
        ([Statement("hardware", words="a"), Statement("hardware", words="b")], "“hardware” is stated twice"),
        (
            [Statement("latency_at", str(size), 1) for size in range(1, 22)],
            "“latency_at” is stated 21 times; 20 are possible",
        ),
    ],
)
def test_what_cannot_hold_of_one_run_is_refused(told: list[Statement], said: str) -> None:
    with pytest.raises(InvalidValueError) as refusal:
        check_together(told)
    assert said in str(refusal.value)


def test_a_median_that_is_the_95th_percentile_can_be() -> None:
    check_together([Statement("latency_p50", number=50), Statement("latency_p95", number=50)])


def test_an_address_names_a_fact_and_a_detail() -> None:
    assert read_address(KNOWN_FACTS, "latency_at@1e6") == (KNOWN_FACTS["latency_at"], "1e6")
    with pytest.raises(NotFoundError, match="“speed” is no fact that is stated here"):
        read_address(KNOWN_FACTS, "speed")


@pytest.mark.parametrize(
    ("key", "name", "kind", "unit", "better", "said"),
    [
        ("Price", "Price", "number", "", "", "“Price” is no key of a column"),
        ("1st", "First", "number", "", "", "“1st” is no key of a column"),
        ("a" * 41, "A", "number", "", "", "is no key of a column"),
        ("hardware", "Hardware", "words", "", "", "“hardware” is a standard column and need not be added"),
        ("price", "  ", "number", "", "", "A column needs a name"),
        ("price", "Price", "list", "", "", "“list” is no kind of column: number or words"),
        ("price", "Price", "number", "", "dearer", "“dearer” does not say which end is better"),
        ("notes", "Notes", "words", "EUR", "", "A text column has no unit"),
        ("notes", "Notes", "words", "", "less", "A text column has no unit and no better direction"),
        ("price", "P" * 61, "number", "", "", "is too long"),
    ],
)
def test_a_column_that_cannot_be_is_refused(
    *, key: str, name: str, kind: str, unit: str, better: str, said: str
) -> None:
    with pytest.raises(InvalidValueError) as refusal:
        own_column(key, name, kind=kind, unit=unit, better=better)
    assert said in str(refusal.value)


def test_a_column_of_a_collection_stands_behind_those_that_are_always_there() -> None:
    facts = all_facts([PRICE])
    assert list(facts) == [*KNOWN_FACTS, "price"]
    assert facts["price"] == Fact("price", PRICE.name, FactKind.NUMBER, "EUR", Better.LESS, is_own=True)
    assert str(facts["price"].name) == "Price of a day"
    assert read_statement(PRICE, "12.50 eur") == Statement("price", number=12.5)


def test_a_column_from_before_the_program_knew_the_fact_gives_way_to_it() -> None:
    old = stored_column("hardware", "What it ran on", kind="number", unit="", better="neither")
    facts = all_facts([old])
    assert facts == dict(KNOWN_FACTS)
    told = [Statement("hardware", number=3), Statement("gone", words="x"), Statement("hardware", words="a laptop")]
    assert those_that_fit(facts, told) == (told[2],)
