"""Whether the server lives, and whether it can do its work; for whoever keeps it running."""

from flask import Blueprint
from flask.typing import ResponseReturnValue

from annotator.errors import BusyError, ConflictError
from annotator.storage.site.schema import newest_version, try_to_write, version_of
from annotator.web.site.context import database
from annotator.web.site.downloads import PLAIN

blueprint = Blueprint("health", __name__)

UNAVAILABLE = 503
HEADERS = {"Content-Type": f"{PLAIN}; charset=utf-8"}


@blueprint.get("/health")
def alive() -> ResponseReturnValue:
    """A process answers; nothing else is asked."""
    return "alive\n", HEADERS


@blueprint.get("/ready")
def ready() -> ResponseReturnValue:
    """The database opens, its tables are of this version, and something can be written."""
    try:
        present = version_of(database())
    except ConflictError:
        return "the database does not open\n", UNAVAILABLE, HEADERS
    newest = newest_version()
    if present is not None and present > newest:
        return "the tables are of a newer version of the program: install that one\n", UNAVAILABLE, HEADERS
    if present != newest:
        return "the tables are of another version: run “annotator database upgrade”\n", UNAVAILABLE, HEADERS
    try:
        try_to_write(database())
    except BusyError:
        return "nothing can be written: the disk is full, or somebody else writes for long\n", UNAVAILABLE, HEADERS
    return "ready\n", HEADERS
