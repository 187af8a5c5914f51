"""Which run gets the credit for a click on a list that was made of several runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.interleaving.interleaved_lists import FEWEST_RUNS, InterleavedLists, Method
from annotator.clicks.evaluation.interleaving.multileaving import NO_TEAM
from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog, Codes, Dropped, Event
from annotator.clicks.evaluation.logs.list_clicks import ListClicks, Places, list_clicks
from annotator.clicks.evaluation.logs.listed_documents import ListedDocuments
from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.formats.natural_order import natural_order

MOST_RUNS = 20  # of an experiment; more variants than these are something else, such as numbers of lists

Flags = NDArray[np.bool_]


class Uncounted(StrEnum):
    """Why a click counts for no run."""

    NOBODY = "by no user and in no session"
    REPEATED = "again on the same result"
    UNKNOWN_LIST = "on a list that is not in the file of lists"
    NOT_IN_LIST = "on a document that its list does not have"
    OF_NO_RUN = "on a result that counts for no run"


@dataclass(frozen=True, eq=False)
class CreditedLists:
    """The lists on which some run has the credit for a click, one an entry."""

    runs: tuple[str, ...]
    credit: NDArray[np.int64]  # clicks; shape: lists, runs
    query: Codes
    unit: Places  # the same for lists of one user, or without users of one session
    rows: NDArray[np.intp]  # the clicks on all lists, the first on each result: which events of the log they are
    method: Method | None  # None where the log itself says whose each click is
    shown: int | None  # lists in all, with those without a click that counts; None when the log has no impressions
    uncounted: Mapping[Uncounted, int]  # clicks; without reasons of which there are none


def credited_by_variant(log: ClickLog, variants: Sequence[str] = ()) -> CreditedLists:
    """Give each click to the variant on its line, which is the run whose pick the document was.

    Of all variants that results have, or of those named, in their order; what is of another counts for no run. Raises
    `NotFoundError` for one that the log does not have, and `InvalidValueError` when there are fewer than two or more
    than 20, no clicks, or nothing that says on which list a click was.
    """
    found = _clicks_of(log, variant_is_list=False)
    runs = tuple(variants) or _variants_of_results(log)
    for run in runs:
        if run not in log.variants:
            raise NotFoundError(
                "The log has no variant “%(variant)s”; it has: %(known)s.",
                variant=run,
                known=", ".join(sorted(log.variants, key=natural_order)[:MOST_RUNS]),
            )
    _check_number(runs)
    team = np.full(len(log.variants) + 1, NO_TEAM)  # one more at the end, where NOT_SAID looks
    team[[log.variants.index(run) for run in runs]] = np.arange(len(runs))
    teams = team[log.variant[found.rows]]
    return _credited(runs, found, teams[:, np.newaxis] == np.arange(len(runs)), None, {})


def credited_by_lists(log: ClickLog, lists: InterleavedLists) -> CreditedLists:
    """Give each click to the runs that the file of lists names: the query is the topic, the variant the list's number.

    By teams, to the run whose pick the document was. In balanced lists to each run that has the document among its
    first k, where k is the better of the two ranks of the lowest document clicked (Joachims 2002; Radlinski, Kurup and
    Joachims, CIKM 2008). Raises `InvalidValueError` when there is no click, nothing that says on which list a click
    was, or no click on any list of the file.
    """
    found = _clicks_of(log, variant_is_list=True)
    listed = ListedDocuments(log, lists)
    in_list = listed.has_list(found.rows)
    if not in_list.any():
        raise InvalidValueError(
            "No click of the log is on a list of the file. In the log, the query must be the topic and the variant the "
            "number of the list that was shown."
        )
    places = listed.places(found.rows)
    is_listed = places != NOT_SAID
    of_runs = np.zeros((found.rows.size, len(lists.runs)), np.bool_)
    if lists.method is Method.TEAM_DRAFT:
        of_runs[is_listed] = listed.teams[places[is_listed], np.newaxis] == np.arange(len(lists.runs))
    else:
        of_runs[is_listed] = _balanced_credit(listed, places[is_listed], found.of_list[is_listed])
    reasons = {
        Uncounted.UNKNOWN_LIST: int(np.count_nonzero(~in_list)),
        Uncounted.NOT_IN_LIST: int(np.count_nonzero(in_list & ~is_listed)),
    }
    return _credited(lists.runs, found, of_runs, lists.method, reasons)


def _clicks_of(log: ClickLog, *, variant_is_list: bool) -> ListClicks:
    found = list_clicks(log, variant_is_list=variant_is_list)
    if found.rows.size:
        return found
    if found.nobody:
        raise InvalidValueError(
            "The log says of no click in which session or by which user it was, so the clicks on one list cannot be "
            "told from those on another."
        )
    if dropped := log.dropped.get(Dropped.CLICK_WITHOUT_IMPRESSION):
        raise InvalidValueError(
            "No click of the log is on a result that it says was shown, so no run can have won. Clicks left out: "
            "%(count)d.",
            count=dropped,
        )
    raise InvalidValueError("The log has no click, so no run can have won.")


def _variants_of_results(log: ClickLog) -> tuple[str, ...]:
    """Name the variants of results and clicks, not those that only whole pages have."""
    is_result = (log.docno != NOT_SAID) | (log.position != NOT_SAID) | (log.event == Event.CLICK)
    codes = np.unique(log.variant[is_result])
    return tuple(sorted((log.variants[code] for code in codes[codes != NOT_SAID]), key=natural_order))


def _check_number(runs: Sequence[str]) -> None:
    if len(set(runs)) < len(runs):
        raise InvalidValueError("A variant is given twice.")
    if len(runs) < FEWEST_RUNS:
        raise InvalidValueError(
            "The log has one variant only, %(variant)s; it takes two or more to say which of them won.",
            variant=", ".join(runs) or "-",
        )
    if len(runs) > MOST_RUNS:
        raise InvalidValueError(
            "There are %(count)d variants, too many to be runs. If they are numbers of lists, give the file of lists.",
            count=len(runs),
        )


def _balanced_credit(listed: ListedDocuments, places: NDArray[np.intp], of_list: Places) -> Flags:
    """Which runs each click counts for, shape: clicks, 2; documents without a rank count for none and set no k."""
    ranks = listed.ranks[places].astype(np.float64)
    ranks[ranks == 0] = np.inf
    best = ranks.min(axis=1)
    deepest = np.full(int(of_list.max(initial=-1)) + 1, 0.0)
    order = np.argsort(listed.positions[places], kind="stable")
    order = order[np.isfinite(best[order])]
    deepest[of_list[order]] = best[order]  # the last of a list stays, which is its lowest
    return ranks <= deepest[of_list][:, np.newaxis]


def _credited(
    runs: tuple[str, ...], found: ListClicks, of_runs: Flags, method: Method | None, reasons: Mapping[Uncounted, int]
) -> CreditedLists:
    """Count the credit of each list, and leave out lists on which no run has any."""
    clicks, places = np.nonzero(of_runs)
    cells = np.bincount(found.of_list[clicks] * len(runs) + places, minlength=found.query.size * len(runs))
    credit = cells.reshape(-1, len(runs))
    counts = credit.any(axis=1)
    without_run = int(np.count_nonzero(~of_runs.any(axis=1))) - sum(reasons.values())
    uncounted = {
        Uncounted.NOBODY: found.nobody,
        Uncounted.REPEATED: found.repeated,
        **reasons,
        Uncounted.OF_NO_RUN: without_run,
    }
    return CreditedLists(
        runs=runs,
        credit=credit[counts],
        query=found.query[counts],
        unit=found.unit[counts],
        rows=found.rows,
        method=method,
        shown=found.shown,
        uncounted={reason: count for reason, count in uncounted.items() if count},
    )
