"""Sends what webhooks are due, with signatures, and finds the topics that were finished."""

import base64
import hashlib
import hmac
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import httpx

from annotator.errors import AnnotatorError
from annotator.storage import Database
from annotator.storage.site.webhooks import (
    DueDelivery,
    SentDelivery,
    has_due_deliveries,
    record_deliveries,
    take_deliveries,
)
from annotator.workflows.collections.webhooks import SECRET_PREFIX
from annotator.workflows.judging import topic_counting
from annotator.workflows.site.outgoing import CheckedHost

SECONDS_TO_ANSWER = 10.0
AT_ONCE = 8
MOST_TAKEN = 32
# Between two searches for finished topics: at least this, and this many times as long as the last search took.
SECONDS_BETWEEN_SEARCHES = 10.0
SHARE_OF_TIME = 20
LONGEST_PROBLEM = 200
REDIRECTED = range(300, 400)


class Delivering:
    """Sends some deliveries per step, several at once, so that a slow receiver delays the others little."""

    def __init__(self, database: Database, allowed: Sequence[str]) -> None:
        """Take the database and the hosts to which the server may send."""
        self._database = database
        self._allowed = allowed
        self._next_search = 0.0

    def step(self) -> bool:
        """Look for finished topics if it is time, and send some deliveries; False when none are due."""
        if time.monotonic() >= self._next_search:
            began = time.monotonic()
            self._search()
            ended = time.monotonic()
            self._next_search = ended + max(SECONDS_BETWEEN_SEARCHES, SHARE_OF_TIME * (ended - began))
        with self._database.reading() as session:
            if not has_due_deliveries(session, now=_now()):
                return False
        with self._database.transaction() as session:
            due = take_deliveries(session, now=_now(), most=MOST_TAKEN)
        with ThreadPoolExecutor(AT_ONCE) as threads:
            sent = list(threads.map(self._send, due))
        with self._database.transaction() as session:
            record_deliveries(session, sent, at=_now())
        return True

    def _search(self) -> None:
        with self._database.reading() as session:
            ids = topic_counting.collections_to_search(session)
            found = {id_: topic_counting.topics_to_record(session, id_) for id_ in ids}
        for collection_id, finished in found.items():
            if finished is not None:
                with self._database.transaction() as session:
                    topic_counting.record_finished_topics(session, collection_id, finished, at=_now())

    def _send(self, due: DueDelivery) -> SentDelivery:
        try:
            status = _status_of(due, self._allowed)
        except AnnotatorError as refused:
            return SentDelivery(due, None, str(refused))
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            return SentDelivery(due, None, (str(error) or type(error).__name__)[:LONGEST_PROBLEM])
        problem = "It redirects, which is not followed." if status in REDIRECTED else ""
        return SentDelivery(due, status, problem)


def signed_headers(due: DueDelivery, at: datetime) -> dict[str, str]:
    """The headers of Standard Webhooks: id, time in seconds, and HMAC-SHA256 of both with the body."""
    seconds = str(int(at.timestamp()))
    key = base64.b64decode(due.secret.removeprefix(SECRET_PREFIX))
    content = f"{due.message}.{seconds}.{due.body}".encode()
    signature = base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
    return {"webhook-id": due.message, "webhook-timestamp": seconds, "webhook-signature": f"v1,{signature}"}


def _status_of(due: DueDelivery, allowed: Sequence[str]) -> int:
    """Send a delivery to the IP address that its host has now, and return the status of the response."""
    headers = {**signed_headers(due, _now()), "Content-Type": "application/json"}
    with (
        CheckedHost(due.address, allowed, seconds=SECONDS_TO_ANSWER) as host,
        host.send("POST", due.address, headers=headers, content=due.body.encode()) as response,
    ):
        return response.status_code


def _now() -> datetime:
    return datetime.now(UTC)
