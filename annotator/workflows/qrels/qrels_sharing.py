"""When participants can download the qrels of released scores: not while teams can still send runs."""

from datetime import datetime

from annotator.errors import Sentence
from annotator.workflows.collections.collection import CollectionView
from annotator.workflows.runs.submissions import deadline_in_words


def why_withheld(number: int, *, closed: bool, until: datetime | None, written: str, at: datetime) -> Sentence | None:
    """Why a version is withheld at this time: teams can send runs, which it would grade; None when it is not.

    `until` is the deadline, and `written` its text as entered.
    """
    if closed or (until is not None and at >= until):
        return None
    if until is None:
        return Sentence(
            "Participants can download version %(number)d of the qrels when no more runs are accepted: after a "
            "submission deadline, or when the collection is closed.",
            {"number": number},
        )
    return Sentence(
        "Participants can download version %(number)d of the qrels when no more runs are accepted: after the "
        "submission deadline, %(moment)s, or when the collection is closed.",
        {"number": number, "moment": deadline_in_words(until, written)},
    )


def shared_by_release(collection: CollectionView, *, at: datetime) -> Sentence | None:
    """Which qrels participants can download by a release, and from when; None when the release shares none."""
    version, released = collection.released_version, collection.scores_released_at
    if not collection.shares_qrels or version is None or released is None:
        return None
    withheld = why_withheld(
        version.number,
        closed=collection.closed,
        until=collection.submissions_until,
        written=collection.submissions_until_written,
        at=max(at, released),
    )
    if withheld is not None:
        return withheld
    if at < released:
        return Sentence(
            "Participants can download version %(number)d of the qrels from the release on.",
            {"number": version.number},
        )
    return Sentence("Participants can download version %(number)d of the qrels.", {"number": version.number})
