"""Tables: plain columns off a terminal, CSV, JSON."""

from datetime import UTC, datetime

import pytest
from csv_cells import unquoted

from annotator.cli.site.tables import show_csv, show_json, show_table
from annotator.cli.site.terminal import show_framed


def test_columns_are_as_wide_as_their_widest_cell_and_numbers_stand_to_the_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_table(
        ["TAG", "AP", "N", "SENT", "IN"],
        [
            ["뉴스", 0.12345, 7, datetime(2026, 3, 1, 9, tzinfo=UTC), True],
            ["a" * 200, None, 1000, None, False],
        ],
    )
    wide = "a" * 200
    assert capsys.readouterr().out.splitlines() == [
        f"{'TAG':<200}      AP     N  SENT               IN",
        # Each of the two syllables takes two columns of a terminal.
        f"{'뉴스':<198}  0.1235     7  2026-03-01T09:00Z  yes",
        f"{wide}       -  1000  -                  no",
    ]


def test_nothing_in_a_cell_steers_the_terminal_or_breaks_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(["TITLE"], [["a\x1b[31m\tb\nc"]])
    assert capsys.readouterr().out == "TITLE\na [31m b c\n"


def test_csv_has_headings_exact_numbers_and_no_formula(capsys: pytest.CaptureFixture[str]) -> None:
    show_csv(["judge", "kappa"], [["=jo", -1 / 3], ["뉴스", None]])
    assert unquoted(capsys.readouterr().out) == "judge,kappa\n'=jo,-0.3333333333333333\n뉴스,\n"


def test_json_is_in_utf_8_and_refuses_what_is_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"title": "뉴스"})
    assert capsys.readouterr().out == '{\n  "title": "뉴스"\n}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        show_json(float("nan"))


@pytest.mark.parametrize("room", [40, 60, 80, 120])
def test_a_terminal_too_narrow_for_a_table_gets_several_and_every_number(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(room))
    values = [f"{number / 7919:.4f}" for number in range(1, 30)]
    headings = ["RUN", *(f"P@{number}" for number in range(1, 30))]
    show_framed(headings, [["bm25-with-a-very-long-name-that-folds", *values]], [False] + [True] * 29)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= room
    assert [word for word in out.split() if word in values] == values
    assert [word for word in out.split() if word.startswith("P@")] == headings[1:]
    assert out.count("RUN") > 1


def test_a_table_that_fits_a_terminal_is_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    show_framed(["RUN", "AP", "TEAM"], [["bm25", "0.5000", "words"]], [False, True, False])
    assert [line.split() for line in capsys.readouterr().out.splitlines() if line.strip(" ─")] == [
        ["RUN", "AP", "TEAM"],
        ["bm25", "0.5000", "words"],
    ]
