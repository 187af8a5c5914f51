"""Which jobs are short: a rule over the kind and the size of what was sent."""

import gzip
from io import BytesIO

import pytest

from annotator.settings import MEBIBYTE
from annotator.web.site.background import KINDS, marks

SHORT = [kind for kind, about in KINDS.items() if about.short_up_to >= 0]
SMALL = b"some bytes"


@pytest.mark.parametrize("kind", SHORT)
def test_a_job_is_short_up_to_the_size_of_its_kind(kind: str) -> None:
    most = bytes(KINDS[kind].short_up_to)
    assert ["short" in marks(kind, [BytesIO(most), BytesIO(more)]) for more in (b"", SMALL)] == [True, False]


def test_pages_click_logs_and_kinds_that_nobody_knows_are_never_short() -> None:
    never = {*(set(KINDS) - set(SHORT)), "of a later version"}
    assert never > {"report.file", "quality.show", "click_logs.add"}
    assert [kind for kind in never if "short" in marks(kind, [BytesIO()])] == []


@pytest.mark.parametrize(
    ("kind", "files", "expected"),
    [
        ("runs.upload", [SMALL, SMALL], {"short": True, "in order": True, "keeps files": True}),
        ("runs.check", [SMALL], {"short": True, "keeps files": True}),
        ("click_logs.add", [SMALL], {"in order": True}),
        ("report.file", [], {}),
    ],
)
def test_a_job_is_marked_when_it_is_asked_for(kind: str, files: list[bytes], expected: dict[str, bool]) -> None:
    assert marks(kind, [BytesIO(file) for file in files]) == expected


def test_what_counts_are_the_bytes_of_all_files_unpacked() -> None:
    half = bytes(KINDS["topics.add"].short_up_to // 2)
    packed = BytesIO(gzip.compress(half))
    assert len(packed.getvalue()) < MEBIBYTE
    assert "short" in marks("topics.add", [packed, packed])
    assert "short" not in marks("topics.add", [packed, packed, BytesIO(SMALL)])
    assert "short" not in marks("topics.add", [packed, packed, packed, packed])
