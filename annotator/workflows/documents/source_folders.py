"""Reading documents from folders of JSON Lines, by their index, and from data sets of ir_datasets."""

import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from annotator.errors import AnnotatorError, Sentence
from annotator.evaluation.formats import source_answers
from annotator.evaluation.formats.offset_index import BrokenIndexError, OffsetIndex
from annotator.evaluation.formats.source_answers import SourceError
from annotator.storage import DocumentSource
from annotator.workflows.documents.source_places import (
    MOST_BYTES,
    Reach,
    Read,
    SourcePlace,
    as_source_error,
    check_dataset,
    check_folder,
    reason_of,
)
from annotator.workflows.site.input_sources import IR_DATASETS, load_dataset, values_of_record

NOT_THERE = Sentence("The source does not have this document.")


class FolderReader:
    """Reads documents of an indexed folder, in the order in which they are in its files."""

    def __init__(self, place: SourcePlace, reach: Reach) -> None:
        """Open the index; raises `SourceError` when the folder may not be read, or is not indexed."""
        try:
            self._folder = check_folder(place, reach)
        except AnnotatorError as refusal:
            raise as_source_error(refusal) from refusal
        if place.index_path is None:
            raise SourceError("The folder is not indexed yet.", is_of_source=True)
        self._options = place.options
        try:
            self._index = OffsetIndex(Path(place.index_path))
        except BrokenIndexError as error:
            raise _outdated(error) from error

    def read(self, docnos: Sequence[str]) -> Mapping[str, Read]:
        """Docno → its document, or why there is none."""
        found: dict[str, Read] = dict.fromkeys(docnos)
        try:
            for docno, line in self._index.lines(self._folder, docnos, MOST_BYTES):
                if found[docno] is None or isinstance(found[docno], SourceError):
                    found[docno] = self._document(docno, line)
        except BrokenIndexError as error:
            return _rest(found, _outdated(error))
        except (OSError, EOFError, zlib.error) as error:
            return _rest(found, _unreadable(error))
        except AnnotatorError as refusal:  # a package is missing
            return _rest(found, as_source_error(refusal))
        return _rest(found, SourceError(NOT_THERE.template))

    def _document(self, docno: str, line: bytes) -> Read:
        if len(line) > MOST_BYTES:
            return SourceError("The source sent more than %(most)d MiB.", most=MOST_BYTES >> 20)
        try:
            return source_answers.document_in(source_answers.read_json(line), docno, self._options)
        except SourceError as error:
            return error


class DatasetReader:
    """Reads documents of a data set of ir_datasets by the look-up that it has."""

    def __init__(self, place: SourcePlace, reach: Reach) -> None:
        """Load the data set; raises `SourceError` when it may not be read or cannot be loaded."""
        self._options = place.options
        try:
            check_dataset(place, reach)
            dataset = load_dataset(place.location.removeprefix(IR_DATASETS))
        except AnnotatorError as refusal:
            raise as_source_error(refusal) from refusal
        if not dataset.has_docs():
            raise SourceError("The data set has no documents.", is_of_source=True)
        try:
            self._store: Any = dataset.docs_store()
        except (OSError, RuntimeError, ValueError, AttributeError) as error:
            raise _unreadable(error) from error

    def read(self, docnos: Sequence[str]) -> Mapping[str, Read]:
        """Docno → its document, or why there is none."""
        try:
            records = self._store.get_many(list(docnos))
        except (OSError, RuntimeError, ValueError) as error:
            return _rest(dict.fromkeys(docnos), _unreadable(error))
        found: dict[str, Read] = dict.fromkeys(docnos)
        for docno, record in records.items():
            with suppress(KeyError):
                found[docno] = self._document(docno, values_of_record(record))
        return _rest(found, SourceError(NOT_THERE.template))

    def _document(self, docno: str, values: Mapping[str, object]) -> Read:
        try:
            return source_answers.document_in(values, docno, self._options)
        except SourceError as error:
            return error


def index_of(source: DocumentSource | None) -> OffsetIndex | None:
    """The index of a folder; None for other sources, and when there is no whole one."""
    if source is None or source.index_path is None:
        return None
    try:
        return OffsetIndex(Path(source.index_path))
    except BrokenIndexError:
        return None


def _rest(found: dict[str, Read], error: SourceError) -> Mapping[str, Read]:
    return {docno: error if one is None else one for docno, one in found.items()}


def _outdated(error: BrokenIndexError) -> SourceError:
    if error.file is None:
        return SourceError(
            "The index of the folder is gone or damaged; it is built again.", is_of_source=True, is_outdated=True
        )
    return SourceError(
        "The file “%(file)s” has changed or is gone since the folder was indexed, which is done again.",
        is_of_source=True,
        is_outdated=True,
        file=error.file,
    )


def _unreadable(error: Exception) -> SourceError:
    return SourceError("The source cannot be read: %(reason)s.", is_of_source=True, reason=reason_of(error))
