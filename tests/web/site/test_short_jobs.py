"""Which jobs are short: a rule over the kind and the size of what was sent."""

import gzip
from io import BytesIO

import pytest

from annotator.settings import MEBIBYTE
from annotator.web.site import background
from annotator.web.site.background import CHECKS, SHORT_UP_TO, is_short, marks
from annotator.web.site.jobs import KINDS

SMALL = b"some bytes"


@pytest.mark.parametrize("kind", SHORT_UP_TO)
def test_a_job_is_short_up_to_the_size_of_its_kind(kind: str) -> None:
    most = SHORT_UP_TO[kind]
    assert (is_short(kind, 0), is_short(kind, most), is_short(kind, most + 1)) == (True, True, False)


def test_pages_click_logs_and_kinds_that_nobody_knows_are_never_short() -> None:
    never = {*background.LONG_PAGES, "click_logs.add", "of a later version"}
    assert never >= {"report.file", "quality.show"}
    assert [kind for kind in never if is_short(kind, 0)] == []


def test_every_short_kind_is_a_kind_of_jobs() -> None:
    assert set(KINDS) >= set(SHORT_UP_TO) >= CHECKS


@pytest.mark.parametrize(
    ("kind", "files", "expected"),
    [
        ("runs.upload", [SMALL, SMALL], {"short": True, "in order": True}),
        ("runs.check", [SMALL], {"short": True}),
        ("click_logs.add", [SMALL], {"in order": True}),
        ("report.file", [], {}),
    ],
)
def test_a_job_is_marked_when_it_is_asked_for(kind: str, files: list[bytes], expected: dict[str, bool]) -> None:
    assert marks(kind, [BytesIO(file) for file in files]) == expected


def test_what_counts_are_the_bytes_of_all_files_unpacked() -> None:
    half = bytes(SHORT_UP_TO["topics.add"] // 2)
    packed = BytesIO(gzip.compress(half))
    assert len(packed.getvalue()) < MEBIBYTE
    assert "short" in marks("topics.add", [packed, packed])
    assert "short" not in marks("topics.add", [packed, packed, BytesIO(SMALL)])
    assert "short" not in marks("topics.add", [packed, packed, packed, packed])
