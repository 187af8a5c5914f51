"""Pseudonyms of teams and runs, and names that are left in files."""

import hmac
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.publishing.veil import NO_VEIL, NameSearch, make_veil

TAGS = ("bm25", "bm25-rm3", "Élan", 'x"y')


def test_a_pseudonym_is_made_of_key_and_name_alone() -> None:
    few, many = make_veil("key", ["red"], ["bm25"]), make_veil("key", ["blue", "red"], ["bm25", "zeta", "a"])
    assert few.run("bm25") == many.run("bm25")
    assert few.team("red") == many.team("red")
    # HMAC-SHA-256 by RFC 2104, its first 12 digits.
    assert few.run("bm25") == f"run-{hmac.new(b'key', b'run bm25', 'sha256').hexdigest()[:12]}"
    assert make_veil("other", ["red"], ["bm25"]).run("bm25") != few.run("bm25")


def test_a_team_and_a_run_of_one_name_differ() -> None:
    veil = make_veil("key", ["red"], ["red"])
    assert veil.team("red") is not None
    assert veil.team("red") != veil.run("red")
    assert veil.table()[1:] == [["team", "red", veil.team("red")], ["run", "red", veil.run("red")]]


def test_nobody_and_names_without_a_veil_stay() -> None:
    assert NO_VEIL.team(None) is None
    assert (NO_VEIL.team("red"), NO_VEIL.run("bm25")) == ("red", "bm25")


def test_settings_are_replaced_where_they_are_exactly_a_name() -> None:
    veil = make_veil("key", ["red"], TAGS)
    assert veil.parameters({"bm25": 3, "texts": ["bm25-rm3", "bm25-rm", 7, None, "red"]}) == {
        veil.run("bm25"): 3,
        "texts": [veil.run("bm25-rm3"), "bm25-rm", 7, None, veil.team("red")],
    }


@pytest.mark.parametrize(
    ("file", "content", "names"),
    [
        ("README.md", "See BM25.", ["bm25"]),
        ("README.md", "See bm25-rm3 only.", ["bm25-rm3"]),
        ("README.md", "See bm250 and abm25.", []),
        ("README.md", "ÉLAN", ["Élan"]),
        ("metadata.json", json.dumps({"a": ["\u00c9lan", {'x"y': 1}]}), ['x"y', "Élan"]),
        ("topics.jsonl", '{"title": "of bm25"}\n{"title": 7}\n', ["bm25"]),
        ("runs.csv", '"run","team"\n"run-1","x""y"\n', ['x"y']),
        ("runs.csv", '"run","team"\n"run-1","of bm25"\n', []),
        ("qrels.txt", "1 0 bm25 1\n1 0 bm25-rm3x 1\n", ["bm25"]),
        ("runs/a.run.gz", "1 Q0 d 1 0.5 bm25-rm3\n", ["bm25-rm3"]),
        ("runs/a.run.gz", "1 Q0 d 1 0.5 run-123\n", []),
    ],
)
def test_names_are_found_in_every_kind_of_file(file: str, content: str, names: list[str]) -> None:
    assert NameSearch(TAGS).found(file, [line.encode() for line in content.splitlines(keepends=True)]) == names


def test_without_names_nothing_is_found() -> None:
    assert NameSearch([]).found("README.md", [b"bm25"]) == []


words = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=6)


@given(name=words, before=words, after=words)
def test_a_name_between_blanks_is_found_however_json_writes_it(name: str, before: str, after: str) -> None:
    content = json.dumps({"text": f"{before} {name} {after}"}).encode()
    assert name in NameSearch([name]).found("kit.json", [content])


@pytest.mark.parametrize(
    "written", ["Équipe\nBleue", "Équipe  Bleue", "équipe\u00a0bleue", "E\u0301quipe Bleue", "\uff22leue"]
)
def test_a_name_is_found_over_lines_blanks_and_forms_of_characters(written: str) -> None:
    name = "Bleue" if written == "\uff22leue" else "Équipe Bleue"
    assert NameSearch([name]).found("README.md", [f"by {written} itself".encode()]) == [name]
