"""Keys of requests: stored with what the request does, of one account and one request, for a day."""

from datetime import timedelta

import pytest
from build import NOW
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.workflows.site.idempotency import (
    KeyedRequest,
    StoredResponse,
    claim_key,
    earlier_response,
    forget_responses,
    keep_response,
)

REQUEST = KeyedRequest(1, "k1", "digest")
ANSWER = StoredResponse(201, {"Location": "/jobs/1"}, b"{}")


def test_a_response_is_given_again(session: Session) -> None:
    assert earlier_response(session, REQUEST) is None
    claim_key(session, REQUEST, at=NOW)
    keep_response(session, REQUEST, ANSWER)
    assert earlier_response(session, REQUEST) == ANSWER
    assert earlier_response(session, KeyedRequest(2, "k1", "digest")) is None


def test_a_key_of_another_request_is_refused(session: Session) -> None:
    claim_key(session, REQUEST, at=NOW)
    keep_response(session, REQUEST, ANSWER)
    with pytest.raises(InvalidValueError, match="came with another request"):
        earlier_response(session, KeyedRequest(1, "k1", "another"))


def test_what_is_being_carried_out_is_not_carried_out_again(session: Session) -> None:
    claim_key(session, REQUEST, at=NOW)
    with pytest.raises(ConflictError, match="was carried out"):
        earlier_response(session, REQUEST)
    with pytest.raises(ConflictError, match="is being carried out"):
        claim_key(session, REQUEST, at=NOW)


@pytest.mark.parametrize(("hours", "is_kept"), [(23, True), (25, False)])
def test_a_response_is_kept_for_a_day(session: Session, hours: int, is_kept: bool) -> None:  # noqa: FBT001 - a parameter
    claim_key(session, REQUEST, at=NOW)
    keep_response(session, REQUEST, ANSWER)
    forget_responses(session, now=NOW + timedelta(hours=hours))
    assert (earlier_response(session, REQUEST) is not None) is is_kept
