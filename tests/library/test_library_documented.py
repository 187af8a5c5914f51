"""The examples of the guide to the library run as they stand."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs/how-to/python.md"
BLOCKS = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_every_example_of_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("jo.txt").write_text("1 0 d1 1\n1 0 d2 0\n")
    Path("kim.txt").write_text("1 0 d1 1\n1 0 d2 1\n")
    Path("qrels.txt").write_text("1 0 d1 1\n1 0 d2 0\n2 0 d3 1\n")
    Path("sample.prels").write_text("1 0 d1 1 1\n1 0 d2 2 0\n1 0 d3 2 -1\n2 0 d3 1 1\n")
    Path("machine.txt").write_text("1 0 d1 1\n1 0 d2 1\n1 0 d3 0\n2 0 d3 1\n")
    Path("topics.jsonl").write_text('{"number": "1", "title": "first"}\n{"number": "2", "title": "second"}\n')
    for tag in ("bm25", "dense"):
        Path(f"{tag}.run").write_text(f"1 Q0 d2 1 9.5 {tag}\n1 Q0 d1 2 8 {tag}\n2 Q0 d3 1 7.1 {tag}\n")
    names: dict[str, object] = {}
    blocks = BLOCKS.findall(GUIDE.read_text(encoding="utf-8"))
    assert len(blocks) == 4
    for block in blocks:
        exec(block, names)  # noqa: S102 - our own document
    assert "nDCG@10" in str(names["scores"])
    assert str(names["table"]).startswith(r"\begin{tabular}")
