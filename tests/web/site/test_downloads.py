"""Files that are handed out: what is long is written to the disk, not kept in memory."""

from collections.abc import Iterator
from tempfile import SpooledTemporaryFile

import pytest
from flask import Flask

from annotator.web.site import downloads
from annotator.web.site.downloads import CSV, written, written_response


def test_what_is_long_is_on_disk_and_goes_out_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "MOST_IN_MEMORY", 10)
    pieces = ["a line\n", "höher\n", "and a last line\n"]
    file = written(iter(pieces))
    assert file._rolled  # type: ignore[attr-defined] # noqa: SLF001 - nothing else tells
    with Flask(__name__).test_request_context():
        response = written_response(file, CSV, "a.csv")
        assert response.content_length == len("".join(pieces).encode())
        assert response.get_data(as_text=True) == "".join(pieces)
        response.close()
    assert file.closed


def test_what_cannot_be_made_to_its_end_leaves_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[SpooledTemporaryFile[bytes]]()

    def noted(size: int) -> SpooledTemporaryFile[bytes]:
        made.append(SpooledTemporaryFile(size))  # noqa: SIM115 - what is tested closes it
        return made[-1]

    monkeypatch.setattr(downloads, "SpooledTemporaryFile", {bytes: noted})

    def breaks() -> Iterator[str]:
        yield "a line\n"
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - its own
        written(breaks())
    assert [file.closed for file in made] == [True]
