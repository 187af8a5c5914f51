"""Reading documents from addresses, and searching there: within bounds of size and time."""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING

from annotator.errors import AnnotatorError
from annotator.evaluation.formats import source_answers
from annotator.evaluation.formats.document_formats import ParsedDocument
from annotator.evaluation.formats.source_answers import SourceError, SourceHits
from annotator.workflows.documents.source_places import MOST_BYTES, Reach, Read, SourcePlace, as_source_error
from annotator.workflows.site.outgoing import CheckedHost, http, seconds_to_wait

if TYPE_CHECKING:
    import httpx

SECONDS_TO_ANSWER = 10.0
# Also when a source sends a byte now and then.
SECONDS_OF_A_RESPONSE = 20.0
AT_ONCE = 8
LONGEST_REASON = 200
# When so many documents failed for reasons of the source, and none was got, the rest is not tried.
ENOUGH_FAILURES = 3
REDIRECTED = range(300, 400)
GONE = {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}
# The source would not give another document either.
REFUSES = {
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
}
HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity"}


class AddressReader:
    """Reads documents from the addresses that a template makes, several at once."""

    def __init__(self, host: CheckedHost, place: SourcePlace) -> None:
        """Read from this host."""
        self._host, self._place = host, place

    def read(self, docnos: Sequence[str]) -> Mapping[str, Read]:
        """Docno → its document, or why there is none."""
        found: dict[str, Read] = dict.fromkeys(docnos)

        def read_one(docno: str) -> None:
            outcomes = [one for one in found.copy().values() if one is not None]
            failures = [one for one in outcomes if isinstance(one, SourceError) and one.is_of_source]
            if len(failures) < ENOUGH_FAILURES or len(failures) < len(outcomes):
                found[docno] = self._read_one(docno)

        with ThreadPoolExecutor(AT_ONCE) as threads:
            list(threads.map(read_one, docnos))
        return found

    def _read_one(self, docno: str) -> ParsedDocument | SourceError:
        address = source_answers.fill_template(self._place.location, {source_answers.DOCNO: docno})
        try:
            answer = source_answers.read_json(_content(self._host, address))
            return source_answers.document_in(answer, docno, self._place.options)
        except SourceError as error:
            return error


def search_source(place: SourcePlace, reach: Reach, query: str, *, first: int, most: int) -> SourceHits:
    """Ask the search of a source, whose options have a template of its address; raises `SourceError`."""
    values = {
        source_answers.QUERY: query,
        source_answers.FIRST: str(first),
        source_answers.MOST: str(most),
    }
    address = source_answers.fill_template(place.options.search, values)
    with _host(address, reach) as host:
        return source_answers.hits_in(source_answers.read_json(_content(host, address)), place.options)


@contextmanager
def open_address(place: SourcePlace, reach: Reach) -> Iterator[AddressReader]:
    """Open the host of an address; raises `SourceError` when it cannot be found or may not be asked."""
    address = source_answers.check_template(place.location, source_answers.DOCNO)
    with _host(address, reach) as host:
        yield AddressReader(host, place)


@contextmanager
def _host(address: str, reach: Reach) -> Iterator[CheckedHost]:
    try:
        host = CheckedHost(address, reach.hosts, seconds=SECONDS_TO_ANSWER)
    except AnnotatorError as refusal:
        raise as_source_error(refusal) from refusal
    except OSError as error:
        raise _unreachable(error) from error
    with host:
        yield host


def _content(host: CheckedHost, address: str) -> bytes:
    """What a source answers; raises `SourceError`."""
    try:
        with host.send("GET", address, headers=HEADERS) as response:
            _check_status(response)
            return _body(response)
    except http().TimeoutException:
        raise _too_slow(SECONDS_TO_ANSWER) from None
    except http().RemoteProtocolError:
        raise SourceError("The source broke off: it sent less than it had announced, or no HTTP.") from None
    except (http().HTTPError, http().InvalidURL, OSError) as error:
        raise _unreachable(error) from error


def _body(response: "httpx.Response") -> bytes:
    ends = time.monotonic() + SECONDS_OF_A_RESPONSE
    pieces: list[bytes] = []
    size = 0
    for piece in response.iter_raw():
        pieces.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            raise SourceError("The source sent more than %(most)d MiB.", most=MOST_BYTES >> 20)
        if time.monotonic() > ends:
            raise _too_slow(SECONDS_OF_A_RESPONSE)
    return b"".join(pieces)


def _check_status(response: "httpx.Response") -> None:
    status = response.status_code
    if status == HTTPStatus.OK:
        return
    if status in GONE:
        raise SourceError("The source does not have this document (HTTP status %(status)d).", status=status)
    if status in REDIRECTED:
        raise SourceError(
            "The source redirects to another address, which is not followed (HTTP status %(status)d).", status=status
        )
    is_of_source = status in REFUSES or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    raise SourceError(
        "The source refused with HTTP status %(status)d.",
        is_of_source=is_of_source,
        retry_after=seconds_to_wait(response) if is_of_source else None,
        status=status,
    )


def _too_slow(seconds: float) -> SourceError:
    return SourceError("The source did not answer within %(seconds)d seconds.", is_of_source=True, seconds=seconds)


def _unreachable(error: Exception) -> SourceError:
    reason = (str(error) or type(error).__name__)[:LONGEST_REASON].rstrip(".")
    return SourceError("The source cannot be reached: %(reason)s.", is_of_source=True, reason=reason)
