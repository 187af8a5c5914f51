"""Opening a source of documents for reading, wherever it is."""

from collections.abc import Iterator
from contextlib import contextmanager

from annotator.storage import SourceKind
from annotator.workflows.documents.source_addresses import open_address
from annotator.workflows.documents.source_folders import DatasetReader, FolderReader
from annotator.workflows.documents.source_places import Reach, Reader, SourcePlace


@contextmanager
def open_source(place: SourcePlace, reach: Reach) -> Iterator[Reader]:
    """Open a source for reading.

    Raises `SourceError` when it gives no document at all, as when its host cannot be found or is not allowed.
    """
    if place.kind is SourceKind.ADDRESS:
        with open_address(place, reach) as reader:
            yield reader
    else:
        yield FolderReader(place, reach) if place.kind is SourceKind.FOLDER else DatasetReader(place, reach)
