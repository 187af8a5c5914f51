"""Pages of lists: long lists that are read page by page, and the header Link (RFC 8288) with the pages around one."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from flask import Response, make_response, request
from flask.typing import ResponseReturnValue
from werkzeug.urls import iri_to_uri

PAGINATION = "X-Pagination"
RELATIONS = {"first": "first_page", "prev": "previous_page", "next": "next_page", "last": "last_page"}


@dataclass(frozen=True)
class LongList:
    """A list whose requested page alone is read, for `Takes(pages=True)`.

    `count` returns its length, and `read` the rows from an index on, at most a number of them.
    """

    count: Callable[[], int]
    read: Callable[[int, int], Sequence[object]]

    def __len__(self) -> int:
        """Count the rows."""
        return self.count()

    def __getitem__(self, wanted: slice) -> Sequence[object]:
        """Read the rows of a page."""
        return self.read(wanted.start, wanted.stop - wanted.start)


def linked(answer: ResponseReturnValue) -> Response:
    """The response; that of a list gets the links to its first, previous, next and last page."""
    response = make_response(answer)
    pages: Mapping[str, int] = json.loads(response.headers.get(PAGINATION, "{}"))
    links = [f'<{_address(pages[key])}>; rel="{name}"' for name, key in RELATIONS.items() if key in pages]
    if links:
        response.headers["Link"] = ", ".join(links)
    return response


def _address(page: int) -> str:
    """The address of another page of this list."""
    query = request.args.copy()
    query["page"] = str(page)
    address = request.root_path + request.path
    pairs = ((name, value) for name, values in query.lists() for value in values)
    return f"{iri_to_uri(address)}?{urlencode(list(pairs))}"
