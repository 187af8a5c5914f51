"""Credit assignment: which run is credited for a click on an interleaved list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.interleaving.interleaving import FEWEST_RUNS, NO_TEAM, InterleavedLists, Method
from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog, Codes, Dropped, Event
from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.formats.identifiers import natural_order

Keys = NDArray[np.int64]


class ListedDocuments:
    """The lists that a log can refer to; `teams`, `positions` and `ranks` have an entry for each of their documents.

    `ranks` has shape: documents, runs.
    """

    def __init__(self, log: ClickLog, lists: InterleavedLists) -> None:
        """Take the lists whose topic and number occur in the log as query and variant, with the documents it has."""
        queries, numbers, docnos = (
            {name: code for code, name in enumerate(names)} for names in (log.queries, log.variants, log.docnos)
        )
        self._log = log
        listed = sorted(
            (
                (queries[topic], numbers[str(number)], documents)
                for (topic, number), documents in lists.lists.items()
                if topic in queries and str(number) in numbers
            ),
            key=lambda one: one[:2],
        )
        self._lists = _joined(_whole([one[0] for one in listed]), _whole([one[1] for one in listed]), len(numbers))
        placed = sorted(
            (
                (place, docnos[one.docno], one)
                for place, (_, _, documents) in enumerate(listed)
                for one in documents
                if one.docno in docnos
            ),
            key=lambda one: one[:2],
        )
        self._documents = _joined(_whole([one[0] for one in placed]), _whole([one[1] for one in placed]), len(docnos))
        self.teams = _whole([one.team for _, _, one in placed])
        self.positions = _whole([one.position for _, _, one in placed])
        self.ranks = np.array([one.ranks for _, _, one in placed], np.int64).reshape(-1, len(lists.runs))

    def has_list(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether each of these events of the log is on one of the lists."""
        on_list: NDArray[np.bool_] = self._lists_of(rows) != NOT_SAID
        return on_list

    def places(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Find the entry of each event's document in its list; `NOT_SAID` if the list does not have it."""
        log = self._log
        return _find(self._documents, _joined(self._lists_of(rows), log.docno[rows], len(log.docnos)))

    def _lists_of(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        log = self._log
        return _find(self._lists, _joined(log.query[rows], log.variant[rows], len(log.variants)))


def _whole(numbers: Sequence[int]) -> Keys:
    return np.array(numbers, np.int64)


def _joined(firsts: NDArray[np.integer], seconds: NDArray[np.integer], count: int) -> Keys:
    """Combine pairs of codes into one number each; `count` is the number of second codes, either may be `NOT_SAID`."""
    keys: Keys = firsts.astype(np.int64) * (count + 1) + seconds + 1
    return keys


def _find(keys: Keys, wanted: Keys) -> NDArray[np.intp]:
    """Find the index of each wanted key in sorted keys; `NOT_SAID` if absent."""
    if not keys.size:
        return np.full(wanted.size, NOT_SAID)
    places = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    return np.where(keys[places] == wanted, places, NOT_SAID)


MOST_KEY = int(np.iinfo(np.int64).max)

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ListClicks:
    """Clicks, arrays `rows` and `of_list`, and the lists with clicks, arrays `query` and `unit`.

    A list is what one session saw for one query, or without sessions one user. Repeated clicks on a result of a
    list are counted once.
    """

    rows: NDArray[np.intp]  # indices of the events in the log
    of_list: Places  # index of the list, from 0
    query: Codes
    unit: Places  # equal for lists of one user, or of one session without users
    shown: int | None  # number of lists, including those without a click; None when the log has no impressions
    nobody: int  # clicks without user and session, whose list is unknown
    repeated: int  # repeated clicks on the same result


def list_clicks(log: ClickLog, *, variant_is_list: bool) -> ListClicks:
    """Group clicks into lists by session and query, and by variant if variants are the numbers of lists."""
    who = _codes_or(log.session, log.user, log.sessions)
    is_click, is_known = log.event == Event.CLICK, who != NOT_SAID
    shown = _count_shown(log, who, variant_is_list=variant_is_list)
    clicks = np.flatnonzero(is_click & is_known)
    keys = _keys(log, who, clicks, variant_is_list=variant_is_list)
    lists, first, of_list = np.unique(keys, return_index=True, return_inverse=True)
    kept = _first_on_result(log, clicks, of_list)
    begins = clicks[first]
    return ListClicks(
        rows=clicks[kept],
        of_list=of_list[kept],
        query=log.query[begins],
        unit=_codes_or(log.user[begins], log.session[begins], log.users),
        shown=None if shown is None else max(shown, lists.size),
        nobody=int(np.count_nonzero(is_click & ~is_known)),
        repeated=int(clicks.size - kept.size),
    )


def _codes_or(codes: Codes, others: Codes, past: int) -> Places:
    """Use the other code where the first is missing, offset past all codes of the first kind."""
    taken = codes.astype(np.int64)
    is_other = (codes == NOT_SAID) & (others != NOT_SAID)
    taken[is_other] = others[is_other].astype(np.int64) + past
    return taken


def _keys(log: ClickLog, who: Places, events: NDArray[np.intp], *, variant_is_list: bool) -> Places:
    """Compute one key for each list from its events; every factor is one more than its codes, which begin at -1."""
    keys = who[events]
    keys *= len(log.queries) + 1
    keys += log.query[events] + 1
    if variant_is_list:
        lists = len(log.variants) + 1
        if int(keys.max(initial=0)) >= MOST_KEY // lists:
            # Renumber, at the cost of memory, so that keys stay within 64 bits.
            _, keys = np.unique(keys, return_inverse=True)
        keys *= lists
        keys += log.variant[events] + 1
    return keys


def _count_shown(log: ClickLog, who: Places, *, variant_is_list: bool) -> int | None:
    """Count the lists with an impression or a click; None when the log has no impressions."""
    if not (log.event == Event.IMPRESSION).any():
        return None
    seen = np.flatnonzero((log.event <= Event.CLICK) & (who != NOT_SAID))
    keys = _keys(log, who, seen, variant_is_list=variant_is_list)
    keys.sort()  # in place, as a log may have millions of events
    return int(np.count_nonzero(keys[1:] != keys[:-1])) + bool(keys.size)


def _first_on_result(log: ClickLog, clicks: NDArray[np.intp], of_list: Places) -> NDArray[np.intp]:
    """Return the first click on each result: the same document, or without document the same position.

    A click with neither is a result of its own.
    """
    docno, position = log.docno[clicks].astype(np.int64), log.position[clicks].astype(np.int64)
    result = np.where(docno != NOT_SAID, docno * 2, position * 2 + 1)
    order = np.lexsort((result, of_list))  # stable: ties keep the order of the events
    repeats = np.zeros(clicks.size, np.bool_)
    repeats[order[1:]] = (np.diff(of_list[order]) == 0) & (np.diff(result[order]) == 0)
    return np.flatnonzero(~repeats | ((docno == NOT_SAID) & (position == NOT_SAID)))


MOST_RUNS = 20  # maximum number of runs; more variants are something else, such as numbers of lists

Flags = NDArray[np.bool_]


class Uncounted(StrEnum):
    """The reason why a click is credited to no run."""

    NOBODY = "without a user or a session"
    REPEATED = "again on the same result"
    UNKNOWN_LIST = "on a list that is not in the file of lists"
    NOT_IN_LIST = "on a document that its list does not have"
    OF_NO_RUN = "on a result that counts for no run"


@dataclass(frozen=True, eq=False)
class CreditedLists:
    """The lists on which some run is credited with a click, one list an entry."""

    runs: tuple[str, ...]
    credit: NDArray[np.int64]  # credited clicks; shape: lists, runs
    query: Codes
    unit: Places  # equal for lists of one user, or of one session without users
    rows: NDArray[np.intp]  # indices in the log of the clicks on all lists, the first on each result
    method: Method | None  # None if the variant in the log is the team
    shown: int | None  # number of lists, including those without a credited click; None when the log has no impressions
    uncounted: Mapping[Uncounted, int]  # number of clicks by reason; reasons without any are left out


def credited_by_variant(log: ClickLog, variants: Sequence[str] = ()) -> CreditedLists:
    """Credit each click to the variant on its line, the run that picked the document.

    The runs are all variants of results, or the given ones, in their order; clicks of others are not credited. Raises
    `NotFoundError` for one that the log does not have, and `InvalidValueError` when there are fewer than two or more
    than 20, no clicks, or no columns that identify the list of a click.
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
    team = np.full(len(log.variants) + 1, NO_TEAM)  # one more at the end, the entry that NOT_SAID (-1) indexes
    team[[log.variants.index(run) for run in runs]] = np.arange(len(runs))
    teams = team[log.variant[found.rows]]
    return _credited(runs, found, teams[:, np.newaxis] == np.arange(len(runs)), None, {})


def credited_by_lists(log: ClickLog, lists: InterleavedLists) -> CreditedLists:
    """Credit each click by the file of lists: the query is the topic, the variant the number of the list.

    With teams, to the run that picked the document. In balanced lists, to each run that has the document among its
    first k, where k is the better of the two ranks of the lowest document clicked (Joachims 2002; Radlinski, Kurup and
    Joachims, CIKM 2008). Raises `InvalidValueError` when there is no click, no columns that identify the list of a
    click, or no click on any list of the file.
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
    """Return the variants of results and clicks, without those that only whole pages have."""
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
    """The runs credited for each click, (clicks, 2); documents without a rank are credited to none and do not set k."""
    ranks = listed.ranks[places].astype(np.float64)
    ranks[ranks == 0] = np.inf
    best = ranks.min(axis=1)
    deepest = np.full(int(of_list.max(initial=-1)) + 1, 0.0)
    order = np.argsort(listed.positions[places], kind="stable")
    order = order[np.isfinite(best[order])]
    deepest[of_list[order]] = best[order]  # NumPy keeps the last of a list, which is its lowest
    return ranks <= deepest[of_list][:, np.newaxis]


def _credited(
    runs: tuple[str, ...], found: ListClicks, of_runs: Flags, method: Method | None, reasons: Mapping[Uncounted, int]
) -> CreditedLists:
    """Count the credit by list, and leave out lists without any."""
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
