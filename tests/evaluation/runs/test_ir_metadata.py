"""The header of ir_metadata in a run: what is taken from it, and what is said about a broken one."""

import pytest

from annotator.errors import Problems
from annotator.evaluation.runs.ir_metadata import BrokenMetadataError, IrMetadata, read_ir_metadata
from annotator.evaluation.runs.run_format import parse_run
from annotator.evaluation.runs.run_intake import RunIntake, RunRules

LINES = b"1 Q0 d1 1 2.5 bm25\n"
HEADER = b"""# ir_metadata.start
# schema version: 0.2
# platform:
#   software:
#     libraries:
#       python:
#         - 'numpy==2.0'
# method:
#   name: BM25
#   description: BM25 with
#     stemming
#   automatic: true
# research goal:
#   description: A baseline.
# actor:
#   name: Jo
# ir_metadata.end
"""


def test_description_and_type_are_taken() -> None:
    assert read_ir_metadata(HEADER + LINES) == IrMetadata("BM25 with stemming A baseline.", is_automatic=True)
    assert read_ir_metadata(b"# a comment\n\n" + HEADER.replace(b"\n", b"\r\n") + LINES) is not None


def test_a_run_may_have_none() -> None:
    assert read_ir_metadata(LINES) is None
    assert read_ir_metadata(b"# a comment\n" + LINES + HEADER) is None
    assert read_ir_metadata(b"# ir_metadata.start\n# ir_metadata.end\n" + LINES) == IrMetadata()


def test_the_lines_below_are_read_as_ever() -> None:
    run = parse_run("a.run", HEADER + LINES, Problems())
    assert run is not None
    assert run.lines == 1


@pytest.mark.parametrize(
    ("header", "line"),
    [
        (b"# ir_metadata.start\n# a: 1\n", 1),
        (b"# ir_metadata.start\n# a: 1\n# b: [\n# ir_metadata.end\n", 4),
        (b"# ir_metadata.start\n# a: " + b"[" * 5000 + b"\n# ir_metadata.end\n", 2),
        (b"# ir_metadata.start\n# a: " + b"[" * 51 + b"]" * 51 + b"\n# ir_metadata.end\n", 2),
        (b"# ir_metadata.start\n# a: !!python/object/apply:os.system [id]\n# ir_metadata.end\n", 2),
    ],
)
def test_a_broken_header_is_a_warning_with_its_line(header: bytes, line: int) -> None:
    with pytest.raises(BrokenMetadataError) as broken:
        read_ir_metadata(header + LINES)
    assert broken.value.line == line
    intake = RunIntake(RunRules(frozenset("1"), frozenset("1"), 10, 1 << 20))
    read = intake.read("a.run", header + LINES)
    assert read is not None
    assert f"The header of ir_metadata is broken at line {line} and not used" in str(read.warnings[-1])
