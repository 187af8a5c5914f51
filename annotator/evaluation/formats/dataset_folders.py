"""Folders of data sets: which of their files hold topics, qrels, documents or runs."""

from collections.abc import Sequence
from pathlib import Path

from annotator.evaluation.formats.input_formats import Holds

PACKED = ("", ".gz", ".bz2", ".xz", ".zst")
# BEIR's names, by what a file holds.
BEIR = {Holds.TOPICS: "queries.jsonl", Holds.DOCUMENTS: "corpus.jsonl"}
BEIR_QRELS = "qrels/*.tsv"
COLUMNAR = ("*.parquet", "data-*.arrow", "*.arrow")


def files_in(folder: Path, holds: Holds) -> list[Path]:
    """The files of a folder that hold such things, as BEIR or Hugging Face's `datasets` lay them out."""
    name = BEIR.get(holds)
    named = [folder / f"{name}{packed}" for packed in PACKED] if name else []
    found = [path for path in named if path.is_file()][:1]
    if not found and holds is Holds.LABELS:
        found = _matching(folder, [f"{BEIR_QRELS}{packed}" for packed in PACKED])
    return found or _matching(folder, COLUMNAR)


def _matching(folder: Path, patterns: Sequence[str]) -> list[Path]:
    return next((paths for pattern in patterns if (paths := sorted(folder.glob(pattern)))), [])
