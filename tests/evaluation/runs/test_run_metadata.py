"""Tables of metadata: which files are one, what their lines say, and which run file each line is of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import Problems
from annotator.evaluation.runs.run_metadata import MetadataRow, is_metadata, match_metadata, parse_metadata

NAME = "runs.csv"


def read(text: str) -> tuple[list[MetadataRow], list[str]]:
    problems = Problems()
    return parse_metadata(NAME, text.encode(), problems), list(map(str, problems.by_file()))


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_line_gives_the_metadata_of_a_run_whatever_separates_its_columns(separator: str) -> None:
    heading = separator.join(("File", "tag", "team", "type", "priority", "description"))
    line = separator.join(("a.run.gz", "alpha", "red", "Manual", "2", '"one, two; three"'))
    rows, problems = read(f"{heading}\n{line}\n\n")
    assert problems == []
    assert rows == [MetadataRow("a.run.gz", "alpha", "red", "manual", 2, "one, two; three", 2)]


def test_every_problem_is_noted_with_its_line() -> None:
    rows, problems = read("tag,type,priority\nalpha,guess,1\nbeta,,first\n,manual,1\na,b,c,d\ngood,,3\n")
    assert [row.tag for row in rows] == ["good"]
    assert problems == [
        "runs.csv:2: The type is “automatic” or “manual”, not “guess”.",
        "runs.csv:3: The priority is a whole number from 1, not “first”.",
        "runs.csv:4: The line names neither a file nor a tag.",
        "runs.csv:5: The line has 4 fields where the heading has 3, or a character that cannot be stored.",
    ]
    assert "The first line names the columns" in read("alpha,red\n")[1][0]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("runs.csv", b"tag,team\n", True),
        ("RUNS.TSV", b"\xef\xbb\xbffile\ttype\n", True),
        ("runs.csv", b"tag\n", False),
        ("runs.csv", b"topic,docno,tag\n", False),
        ("runs.csv", b"1 Q0 a 1 9 tag\n", False),
        ("runs.txt", b"tag,team\n", False),
        ("runs.csv", b"\xff\xfe\x00", False),
    ],
)
def test_a_table_is_known_by_its_name_and_its_heading(name: str, content: bytes, expected: bool) -> None:  # noqa: FBT001
    assert is_metadata(name, content) is expected


def test_a_line_is_of_the_file_it_names_or_of_the_file_with_its_tag() -> None:
    problems = Problems()
    rows, _ = read("file,tag,team\na,,red\n,beta,blue\nb.txt.gz,new,green\n,nowhere,red\na.gz,,red\n")
    matched = match_metadata(NAME, rows, ["a.gz", "x.run", "b.txt.gz"], ["alpha", "beta", "gamma"], problems)
    assert [(row.team, row.tag) for row in matched] == [("red", ""), ("blue", "beta"), ("green", "new")]
    assert list(map(str, problems.by_file())) == [
        "runs.csv:5: There is no file of the run nowhere among these.",
        "runs.csv:6: The file a.gz has a line already: line 2.",
    ]


@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), unique=True), st.permutations(["a", "b", "c", "d"]))
def test_the_order_of_the_lines_does_not_matter(named: list[str], files: list[str]) -> None:
    rows = [MetadataRow(tag=tag, team=f"team {tag}", line=line) for line, tag in enumerate(named, start=2)]
    problems = Problems()
    matched = match_metadata(NAME, rows, [f"{file}.run" for file in files], files, problems)
    assert [row.team for row in matched] == [f"team {file}" if file in named else "" for file in files]
    assert problems.total == 0
