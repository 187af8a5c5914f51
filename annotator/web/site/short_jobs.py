"""Which jobs are short: a worker that takes no others does them while a long one runs."""

from collections.abc import Mapping, Sequence
from typing import IO

from annotator.files import unpacked_size
from annotator.settings import MEBIBYTE
from annotator.storage.site.jobs import IN_ORDER, SHORT

# So much of each kind, unpacked, takes a few seconds; what is not listed may take longer, whatever its size.
SHORT_UP_TO: Mapping[str, int] = {
    "runs.check": 16 * MEBIBYTE,
    "Runs.check_run": 16 * MEBIBYTE,
    "runs.upload": 16 * MEBIBYTE,
    "Runs.upload_run": 16 * MEBIBYTE,
    "topics.add": 4 * MEBIBYTE,
    "judgements.add": 4 * MEBIBYTE,
    "documents.add": 4 * MEBIBYTE,
    "Documents.import_documents": 4 * MEBIBYTE,
}
# They store nothing, so that their order does not matter.
CHECKS = frozenset({"runs.check", "Runs.check_run"})


def is_short(kind: str, size: int) -> bool:
    """Whether a job of this kind is short, whose files have so many bytes in all, unpacked."""
    return size <= SHORT_UP_TO.get(kind, -1)


def marks(kind: str, files: Sequence[IO[bytes]]) -> dict[str, bool]:
    """What a job's parameters say of its length and its order; a page, which comes without files, has no order."""
    short = kind in SHORT_UP_TO and is_short(kind, _size(files, SHORT_UP_TO[kind]))
    ordered = bool(files) and kind not in CHECKS
    return {mark: True for mark, applies in ((SHORT, short), (IN_ORDER, ordered)) if applies}


def _size(files: Sequence[IO[bytes]], most: int) -> int:
    """The bytes of the files in all, unpacked; counted up to a little more than `most`."""
    size = 0
    for file in files:
        size += unpacked_size(file, most - size)
        if size > most:
            break
    return size
