"""The two variants of a click log that are compared, and the events of some variants alone."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog
from annotator.errors import InvalidValueError, NotFoundError

PAIR = 2


def choose_variants(log: ClickLog, wanted: tuple[str, str] | None) -> tuple[str, str]:
    """The two that are wanted, or where nobody says the two there are, in order of their names.

    Raises `InvalidValueError` for a log with a single variant or none, for a variant and itself, and where more than
    two leave the choice open; `NotFoundError` for a variant that the log does not have.
    """
    known = variants_of(log)
    if len(known) < PAIR:
        raise InvalidValueError(
            "The log has one variant only, “%(variant)s”, so there is none to compare it with.", variant=known[0]
        )
    if wanted is None:
        if len(known) > PAIR:
            raise InvalidValueError(
                "The log has %(count)d variants; name the two to compare: %(variants)s.",
                count=len(known),
                variants=", ".join(known),
            )
        return known[0], known[1]
    _check(wanted, known)
    return wanted


def variants_of(log: ClickLog) -> list[str]:
    """The names of the variants in order; `InvalidValueError` where the log names none."""
    if not log.variants:
        raise InvalidValueError("The log does not say which variant an event is of.")
    return sorted(log.variants)


def _check(wanted: tuple[str, str], known: list[str]) -> None:
    for name in wanted:
        if name not in known:
            raise NotFoundError(
                "The log has no variant “%(variant)s”; it has %(variants)s.", variant=name, variants=", ".join(known)
            )
    if wanted[0] == wanted[1]:
        raise InvalidValueError("The variant “%(variant)s” cannot be compared with itself.", variant=wanted[0])


def events_of(log: ClickLog, variants: tuple[str, ...]) -> ClickLog:
    """The events of some variants, which have the codes from 0 on in this order."""
    codes = np.full(len(log.variants) + 1, NOT_SAID, np.int32)  # the last place is of events without variant
    for code, name in enumerate(variants):
        codes[log.variants.index(name)] = code
    variant = codes[log.variant]
    return _kept(replace(log, variants=variants, variant=variant), variant != NOT_SAID)


def without_users(log: ClickLog, users: NDArray[np.int32]) -> ClickLog:
    """The log without all events of these users; their codes stay what they were."""
    return _kept(log, ~np.isin(log.user, users))


def _kept(log: ClickLog, keep: NDArray[np.bool_]) -> ClickLog:
    if keep.all():
        return log  # a copy of a large log takes as much memory again
    return replace(
        log,
        times=log.times[keep] if log.has_times else log.times,
        user=log.user[keep],
        session=log.session[keep],
        query=log.query[keep],
        variant=log.variant[keep],
        page=log.page[keep],
        position=log.position[keep],
        docno=log.docno[keep],
        event=log.event[keep],
        value=log.value[keep],
    )
