"""Where a source of documents is: an address, a folder or a data set, and whether the server may read it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from annotator.errors import AnnotatorError, InvalidValueError, NotAllowedError, NotFoundError
from annotator.evaluation.formats.document_formats import ParsedDocument
from annotator.evaluation.formats.source_answers import (
    DOCNO,
    FIRST,
    MOST,
    QUERY,
    SourceError,
    SourceOptions,
    check_template,
)
from annotator.storage import Database, SourceKind
from annotator.storage.site.database import file_behind
from annotator.workflows.site.input_sources import IR_DATASETS
from annotator.workflows.site.outgoing import check_address

MOST_BYTES = 5 << 20  # of a document
SETTING, INDEX_SETTING = "ANNOTATOR_DOCUMENT_SOURCES", "ANNOTATOR_INDEX_FOLDER"
NAMED_BYTES = 6

# What came of a docno; None when it was not tried, as the source gave nothing before.
Read = ParsedDocument | SourceError | None


class Reader(Protocol):
    """Reads documents of a source that is open."""

    def read(self, docnos: Sequence[str]) -> Mapping[str, Read]:
        """Docno → its document, or why there is none."""
        ...


@dataclass(frozen=True)
class Reach:
    """What the server may read, as an administrator has set it.

    Hosts of addresses; folders, and data sets as `ir_datasets:NAME`; and where indexes of folders are put.
    """

    hosts: Sequence[str] = ()
    places: Sequence[str] = ()
    indexes: Path | None = None


@dataclass(frozen=True)
class SourcePlace:
    """Where a source is, and how it is read; commands at the server may name any folder or data set."""

    kind: SourceKind
    location: str
    options: SourceOptions = field(default_factory=SourceOptions)
    by_command: bool = False
    index_path: str | None = None  # of a folder that is indexed


def reach_of(database: Database, *, hosts: Sequence[str], places: Sequence[str], index_folder: str) -> Reach:
    """What the settings let the server read; indexes are beside the database's file if no folder is named for them."""
    url = database.engine.url
    if index_folder:
        # A folder of its own for each database: what no source uses is removed.
        named = hashlib.sha256(url.render_as_string().encode()).hexdigest()[: 2 * NAMED_BYTES]
        return Reach(hosts, places, Path(index_folder).resolve() / named)
    file = file_behind(url)
    return Reach(hosts, places, None if file is None else file.resolve().with_name(f"{file.name}.indexes"))


def as_source_error(refusal: AnnotatorError) -> SourceError:
    """A refusal as an error of the whole source."""
    values: dict[str, Any] = dict(refusal.sentence.values)
    return SourceError(refusal.sentence.template, is_of_source=True, **values)


def reason_of(error: Exception) -> str:
    """What an error of the system says, for the end of a sentence."""
    strerror = error.strerror if isinstance(error, OSError) else None
    return (strerror or str(error) or type(error).__name__).partition("\n")[0].rstrip(".")


def kind_of(location: str) -> SourceKind:
    """What a location is; anything unknown is taken for an address."""
    if location.startswith(IR_DATASETS):
        return SourceKind.DATASET
    return SourceKind.FOLDER if location.startswith("/") else SourceKind.ADDRESS


def check_place(place: SourcePlace, reach: Reach) -> None:
    """Raise unless the server may read the place.

    `InvalidValueError` for a malformed template, `NotAllowedError` for what no administrator has named, and
    `NotFoundError` for a folder that does not exist.
    """
    if place.kind is SourceKind.ADDRESS:
        check_address(check_template(place.location, DOCNO), reach.hosts)
    elif place.kind is SourceKind.FOLDER:
        check_folder(place, reach)
    else:
        check_dataset(place, reach)
    if place.options.search:
        check_address(check_template(place.options.search, QUERY, (FIRST, MOST)), reach.hosts)


def check_folder(place: SourcePlace, reach: Reach) -> Path:
    """The folder of a source, which is beneath one that an administrator has named, also when links are followed."""
    folder = Path(place.location).resolve()
    named = [Path(one).resolve() for one in reach.places if one.startswith("/")]
    if not place.by_command and not any(folder.is_relative_to(one) for one in named):
        raise NotAllowedError(
            "This server may not read “%(folder)s”: an administrator names the folders in %(setting)s.",
            folder=place.location,
            setting=SETTING,
        )
    if not folder.is_dir():
        raise NotFoundError("There is no folder “%(folder)s” on the server.", folder=place.location)
    if reach.indexes is None:
        raise InvalidValueError(
            "A folder needs a place for its index, which an administrator names in %(setting)s.", setting=INDEX_SETTING
        )
    return folder


def check_dataset(place: SourcePlace, reach: Reach) -> None:
    """Raise `NotAllowedError` for a data set that no administrator has named: reading it may download it."""
    if not place.by_command and place.location not in reach.places:
        raise NotAllowedError(
            "This server may not read “%(source)s”: an administrator names the data sets in %(setting)s.",
            source=place.location,
            setting=SETTING,
        )
