"""The files of a kit: what it says of itself, names of run files, lines of runs, and where two contents differ."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import ConflictError, NotFoundError
from annotator.evaluation.publishing.kit_files import (
    KIT,
    Publication,
    first_difference,
    kit_json,
    read_kit_json,
    run_files,
    run_lines,
)
from annotator.evaluation.publishing.kit_reading import KitFolder

PUBLICATION = Publication(
    slug="news",
    version=2,
    veiled=True,
    with_texts=False,
    measures=("nDCG@10",),
    authors=("Doe, Jo",),
    licence="CC-BY-4.0",
    address="",
    made_at=datetime(2026, 3, 1, 9, tzinfo=UTC),
    program="0.1.0",
)


def test_what_a_kit_says_of_itself_comes_back() -> None:
    for one in (PUBLICATION, replace(PUBLICATION, authors=(), veiled=False)):
        assert read_kit_json(kit_json(one)) == one


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"format_version": 2},
        {"version": "2"},
        {"version": True},
        {"veiled": 1},
        {"with_texts": None},
        {"measures": [1]},
        {"authors": None},
        {"slug": 7},
        {"made_at": "2026-03-01T09:00:00"},
        {"made_at": "yesterday"},
        {"more": 1},
    ],
)
def test_what_is_otherwise_is_no_kit(change: dict[str, object]) -> None:
    assert read_kit_json(json.dumps({**json.loads(kit_json(PUBLICATION)), **change}).encode()) is None


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff", b'{"format": "annotator release kit"}'])
def test_other_files_are_no_kit(content: bytes) -> None:
    assert read_kit_json(content) is None


def test_a_folder_is_read_back(tmp_path: Path) -> None:
    folder = KitFolder(tmp_path)
    with pytest.raises(NotFoundError, match="is no kit of a collection"):
        folder.publication()
    (tmp_path / KIT).write_bytes(b"{}")
    with pytest.raises(ConflictError, match=r"kit\.json is not what this program writes"):
        folder.publication()
    (tmp_path / KIT).write_bytes(kit_json(PUBLICATION))
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a").write_bytes(b"abc")
    assert folder.publication() == PUBLICATION
    assert folder.paths() == {KIT, "runs/a"}
    # SHA-256 of "abc": FIPS 180-2, appendix B.1.
    written = folder.written("runs/a")
    assert (written.size, written.sha256[:16]) == (3, "ba7816bf8f01cfea")


def test_run_files_have_names_for_every_file_system() -> None:
    assert run_files(["a", "A", "../x", "b/c", "b_c", "é" * 90]) == {
        "a": "runs/a.run.gz",
        "A": "runs/A-2.run.gz",
        "../x": "runs/.._x.run.gz",
        "b/c": "runs/b_c.run.gz",
        "b_c": "runs/b_c-2.run.gz",
        "é" * 90: f"runs/{'_' * 80}.run.gz",
    }


def test_scores_keep_every_digit() -> None:
    assert run_lines("t", "7", ["d", "e"], [0.1 + 0.2, -1e-30]) == (
        b"7 Q0 d 1 0.30000000000000004 t\n7 Q0 e 2 -1e-30 t\n"
    )


@pytest.mark.parametrize(
    ("found", "expected", "line"),
    [
        ([], [], None),
        ([b"a\nb\n"], [b"a\n", b"", b"b\n"], None),
        ([b"a\nx\n"], [b"a\nb\n"], 2),
        ([b"a\n"], [b"a\nb\n"], 2),
        ([b"a\nb\n"], [b"a\n"], 2),
        ([b"a"], [b"b"], 1),
        ([b"ab", b"c\nd"], [b"abc", b"\nx"], 2),
    ],
)
def test_the_first_line_that_differs_is_found(
    found: Sequence[bytes], expected: Sequence[bytes], line: int | None
) -> None:
    assert first_difference(found, expected) == line


pieces = st.lists(st.binary(max_size=4).map(lambda piece: piece.replace(b"\r", b"\n")), max_size=6)


@given(found=pieces, expected=pieces)
def test_contents_differ_where_their_lines_do(found: list[bytes], expected: list[bytes]) -> None:
    one, other = b"".join(found), b"".join(expected)
    line = first_difference(found, expected)
    assert (line is None) == (one == other)
    if line is not None:
        longest = max(size for size in range(len(one) + 1) if other.startswith(one[:size]))
        assert line == one.count(b"\n", 0, longest) + 1
