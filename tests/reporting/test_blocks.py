"""Tables of the report: as LaTeX, and their numbers as text."""

import re

from hypothesis import given
from hypothesis import strategies as st

from annotator.reporting.blocks import Cell, Column, Table, count, escaped, figure, interval, share

COLUMNS = (Column("Run"), Column("AP (%)", is_number=True))
COMMANDS = re.compile(
    r"\\(?:textbackslash|textasciitilde|textasciicircum|ldots)\{\}|\$\\(?:triangledown|circ|diamond)\$"
)


def test_a_table_is_latex_with_its_caption_and_rules() -> None:
    table = Table("board", "Runs & scores", COLUMNS, [(Cell("a_1"), Cell("0.5000", 0.5))])
    assert table.latex.splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\caption{Runs \& scores}\label{tab:board}",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"Run & AP (\%) \\",
        r"\midrule",
        r"a\_1 & 0.5000 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def test_a_long_table_breaks_over_pages() -> None:
    rows = [(Cell(f"run{place}"), Cell("1")) for place in range(143)]
    latex = Table("board", "Runs", COLUMNS, rows).latex
    assert latex.startswith(r"\begin{longtable}{lr}")
    assert latex.endswith(r"\end{longtable}")
    assert latex.count(" & 1 ") == 143


@given(st.text())
def test_escaped_text_has_no_command_of_its_own(text: str) -> None:
    left = re.sub(r"\\[&%$#_{}]", "", COMMANDS.sub("", escaped(text)))
    assert not set(left) & set("\\&%$#_{}~^")


def test_a_table_with_a_picture_is_a_figure_and_its_rows_are_named_by_the_first_text() -> None:
    ranked = (Column("Rank", is_number=True), *COLUMNS)
    assert Table("a", "A", ranked, []).name_column == 1
    assert Table("a", "A", ranked, []).kind == "table"
    assert Table("a", "A", ranked, [], {"chart": "bar"}).kind == "figure"
    assert Table("a", "A", (COLUMNS[1],), []).name_column == -1


def test_numbers_are_written_for_readers() -> None:
    assert count(186_004) == Cell("186,004", 186_004)
    assert (figure(-0.00001).text, figure(None).text) == ("0.0000", "\u2013")
    assert [share(one).text for one in (1, 0.9999, 0.5)] == ["100.0 %", "99.9 %", "50.0 %"]
    assert interval((0.1, 0.25)).text == "0.1000 \u2013 0.2500"
