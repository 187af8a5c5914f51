"""Scores of interleaved lists: wins, ties, Δ and significance of every two runs; conversion to and from JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from itertools import combinations
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.comparison.click_counts import MOST_DOCUMENTS
from annotator.clicks.evaluation.comparison.differences import Drawn
from annotator.clicks.evaluation.interleaving.interleaving import Method
from annotator.clicks.evaluation.interleaving.interleaving_clicks import CreditedLists, Uncounted
from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog
from annotator.errors import Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.metrics.figures import SentenceEnum
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.comparisons import holm
from annotator.evaluation.significance.distributions import special

ALPHA = 0.05
# Shown wherever balanced interleaving is chosen or was used.
BALANCED_BIAS = Sentence(
    "Balanced interleaving has a known bias: where one run has the documents of the other moved up by one (a b c d and "
    "b c d a), users who click at random prefer it (Chapelle et al. 2012). Team draft does not have this bias."
)


class ListTest(StrEnum):
    """How p was computed; a t test over users if users have several lists, as lists of one user are not independent."""

    T_OVER_USERS = "t test over users"
    T_OVER_SESSIONS = "t test over sessions, users unknown"
    BINOMIAL = "exact binomial, one list per user"
    BINOMIAL_OF_SESSIONS = "exact binomial of lists, users unknown"

    @property
    def is_by_user(self) -> bool:
        """Whether the unit is a user; otherwise no result is called significant."""
        return self in {ListTest.T_OVER_USERS, ListTest.BINOMIAL}


class NotTested(SentenceEnum):
    """The reason why there is no Δ, no interval or no p."""

    NO_LIST = Sentence("Not available: no list had a click that counts for a run.")
    ALL_TIED = Sentence("Not tested: neither run won a list, so there is nothing to test.")
    ONE_UNIT = Sentence("No interval: all lists are of one user or session, and from that no spread can be estimated.")
    NO_SPREAD = Sentence(
        "No interval: it came out the same for every user or session, and from that no spread can be estimated."
    )
    KEPT_EARLIER = Sentence(
        "Not tested by user: an earlier version studied this log and took the lists of one user for independent. "
        "Remove the log and add it again."
    )


@dataclass(frozen=True)
class Bootstrap:
    """Bootstrap over users: 95 % percentile interval of Δ, two-sided p, and p by Holm over all pairs."""

    low: float
    high: float
    p: float
    p_holm: float


@dataclass(frozen=True)
class PairScore:
    """Two runs: the lists won by each (more of the clicks) and the tied lists.

    `delta` is Δ = (wins of the first + ties / 2) / lists - 1/2, from -1/2 to 1/2, above 0 where the first is preferred.
    `user_delta` is the mean of the users' own Δ, to which the 95 % interval belongs; `p`, two-sided, is by `test`, and
    `p_holm` is corrected for all pairs. For every None there is a reason.
    """

    first: str
    second: str
    wins_first: int
    wins_second: int
    ties: int
    delta: float | None
    user_delta: float | None
    low: float | None
    high: float | None
    test: ListTest | None  # None in a result stored by an earlier version
    p: float | None
    p_holm: float | None
    bootstrap: Bootstrap | None  # if requested
    no_interval: NotTested | None  # why both are missing
    no_p: NotTested | None

    @property
    def is_significant(self) -> bool:
        """Whether the two differ at the 5 % level, corrected for all pairs, by a test with users as units."""
        is_by_user = self.test is not None and self.test.is_by_user
        return is_by_user and self.p_holm is not None and self.p_holm < ALPHA


@dataclass(frozen=True)
class QueryScore:
    """Scores of the lists of one query; `query` is None if the log has no queries.

    `clicked` are the most clicked docnos of its lists, most first; empty in a result of an earlier version.
    """

    query: str | None
    first: str
    second: str
    wins_first: int
    wins_second: int
    ties: int
    delta: float
    clicked: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class InterleavingResult:
    """The result of all runs; pairs in the order of the runs, queries by number of lists, descending."""

    runs: tuple[str, ...]
    clicks: tuple[int, ...]  # credited clicks, by run
    method: Method | None  # None if the variant in the log is the team
    shown: int | None  # number of lists; None when the log has no impressions
    lists: int  # lists with a credited click, the only ones in Δ
    units: int  # users, or without users sessions, with such a list
    has_users: bool
    seed: int | None  # seed of the bootstrap
    uncounted: Mapping[Uncounted, int]  # clicks credited to no run, by reason
    pairs: tuple[PairScore, ...]
    queries: tuple[QueryScore, ...]  # the queries with the most lists
    queries_in_all: int


def to_json(result: InterleavingResult) -> dict[str, Any]:
    """Serialise the result to a JSON object; reasons by their names."""
    return {
        **asdict(result),
        "uncounted": {reason.value: count for reason, count in result.uncounted.items()},
        "pairs": [
            {**asdict(pair), "no_interval": _name(pair.no_interval), "no_p": _name(pair.no_p)} for pair in result.pairs
        ],
    }


def from_json(stored: Mapping[str, Any]) -> InterleavingResult:
    """Rebuild a result from the value of `to_json`."""
    method = stored["method"]
    return InterleavingResult(
        **{
            **stored,
            "runs": tuple(stored["runs"]),
            "clicks": tuple(stored["clicks"]),
            "method": None if method is None else Method(method),
            "uncounted": {Uncounted(reason): count for reason, count in stored["uncounted"].items()},
            "pairs": tuple(map(_pair_from_json, stored["pairs"])),
            "queries": tuple(map(_query_from_json, stored["queries"])),
        }
    )


def _query_from_json(stored: Mapping[str, Any]) -> QueryScore:
    return QueryScore(**{**stored, "clicked": tuple((docno, clicks) for docno, clicks in stored.get("clicked", ()))})


def _pair_from_json(stored: Mapping[str, Any]) -> PairScore:
    if "test" not in stored:
        stored = {**stored, **EARLIER}
    bootstrap, test = stored["bootstrap"], stored["test"]
    return PairScore(
        **{
            **stored,
            "test": None if test is None else ListTest(test),
            "bootstrap": None if bootstrap is None else Bootstrap(**bootstrap),
            "no_interval": _reason(stored["no_interval"]),
            "no_p": _reason(stored["no_p"]),
        }
    )


# Defaults for results that were stored before tests were by user.
EARLIER = {
    **dict.fromkeys(("user_delta", "low", "high", "test", "p", "p_holm")),
    **dict.fromkeys(("no_interval", "no_p"), NotTested.KEPT_EARLIER.name),
}


def _name(reason: NotTested | None) -> str | None:
    return None if reason is None else reason.name


def _reason(name: str | None) -> NotTested | None:
    return None if name is None else NotTested[name]


DRAWS = 10_000
MOST_CELLS = 1 << 20  # random numbers drawn at a time
MOST_QUERY_ROWS = 10_000  # maximum number of queries in a result
ROUNDING = 1e-12  # a smaller standard error is rounding error
MOST_DELTA = 0.5

# For each list its winner (1 the first, -1 the second, 0 a tie) and its unit, from 0.
Outcomes = NDArray[np.int64]
Units = NDArray[np.int64]


def score_interleaving(log: ClickLog, credited: CreditedLists, *, seed: int | None = None) -> InterleavingResult:
    """Score every two runs by the lists with a credited click; with a seed, by bootstrap also.

    The run with more of the clicks wins a list (Chapelle et al., TOIS 2012), also with more than two
    runs (Schuth et al., CIKM 2014). A list without a credited click is excluded; it is no tie.
    """
    runs = credited.runs
    _, unit = np.unique(credited.unit, return_inverse=True)
    has_users = log.users > 0 and bool((credited.unit < log.users).all())
    pairs = list(combinations(range(len(runs)), 2))
    outcomes = [np.sign(credited.credit[:, one] - credited.credit[:, other]) for one, other in pairs]
    names = [(runs[one], runs[other]) for one, other in pairs]
    scores = [
        score_pair(*name, outcome, unit, seed, has_users=has_users)
        for name, outcome in zip(names, outcomes, strict=True)
    ]
    return InterleavingResult(
        runs=runs,
        clicks=tuple(credited.credit.sum(axis=0).tolist()),
        method=credited.method,
        shown=credited.shown,
        lists=len(credited.credit),
        units=int(unit.max(initial=-1)) + 1,
        has_users=has_users,
        seed=seed,
        uncounted=credited.uncounted,
        pairs=_corrected(scores),
        queries=tuple(_query_scores(log, credited, names, outcomes)),
        queries_in_all=np.unique(credited.query).size,
    )


@dataclass(frozen=True)
class _OverUnits:
    """The mean of the units' own Δ and its standard error, or the reason why it is undefined."""

    mean: float | None
    error: float  # standard error
    units: int
    reason: NotTested | None

    @property
    def bounds(self) -> tuple[float, float] | tuple[None, None]:
        """The 95 % interval, limited to the range of Δ."""
        if self.mean is None or self.reason is not None:
            return None, None
        half = float(special().stdtrit(self.units - 1, 1 - ALPHA / 2)) * self.error
        return max(self.mean - half, -MOST_DELTA), min(self.mean + half, MOST_DELTA)

    @property
    def p(self) -> float | None:
        """The two-sided p of the hypothesis that the mean is 0."""
        if self.mean is None or self.reason is not None:
            return None
        return float(2 * special().stdtr(self.units - 1, -abs(self.mean) / self.error))


def score_pair(
    first: str, second: str, outcome: Outcomes, unit: Units, seed: int | None = None, *, has_users: bool = True
) -> PairScore:
    """Score two runs by the outcome and the unit of each list, both (lists,); p is not corrected.

    If a unit (a user) has several lists, the test is the t test of the units' own Δ, which holds its level also for
    few users and for users who differ much in taste and in number of lists (Ibragimov and Müller 2010, "t-Statistic
    Correlation and Heterogeneity Robust Inference"). The exact binomial takes lists as independent, which
    is right if each unit has one.
    """
    won, lost, ties = _counts(outcome)
    part: Values = np.bincount(unit, outcome / 2).astype(np.float64)
    whole: Values = np.bincount(unit).astype(np.float64)
    over_units = _over_units(part / whole)
    is_one_each = whole.size == outcome.size
    p = over_units.p if not is_one_each else _binomial_p(won, lost)
    low, high = over_units.bounds
    bootstrap = _bootstrap(first, second, part, whole, seed) if low is not None and seed is not None else None
    return PairScore(
        first=first,
        second=second,
        wins_first=won,
        wins_second=lost,
        ties=ties,
        delta=float(part.sum()) / outcome.size if outcome.size else None,
        user_delta=over_units.mean,
        low=low,
        high=high,
        test=_test(is_one_each=is_one_each, has_users=has_users),
        p=p,
        p_holm=p,
        bootstrap=bootstrap,
        no_interval=over_units.reason,
        no_p=None if p is not None else NotTested.ALL_TIED if outcome.size and not won + lost else over_units.reason,
    )


def _test(*, is_one_each: bool, has_users: bool) -> ListTest:
    if is_one_each:
        return ListTest.BINOMIAL if has_users else ListTest.BINOMIAL_OF_SESSIONS
    return ListTest.T_OVER_USERS if has_users else ListTest.T_OVER_SESSIONS


def _binomial_p(won: int, lost: int) -> float | None:
    """The exact two-sided binomial p of the wins, ties excluded."""
    return min(1.0, 2 * float(special().bdtr(min(won, lost), won + lost, 1 / 2))) if won + lost else None


def _over_units(deltas: Values) -> _OverUnits:
    """Average the units' own Δ by exact sums, so that the order of units or runs does not change a digit."""
    units = deltas.size
    if not units:
        return _OverUnits(None, 0.0, units, NotTested.NO_LIST)
    mean = fsum(deltas) / units
    if units == 1:
        return _OverUnits(mean, 0.0, units, NotTested.ONE_UNIT)
    error = (fsum((deltas - mean) ** 2) / (units - 1) / units) ** 0.5
    return _OverUnits(mean, error, units, NotTested.NO_SPREAD if error < ROUNDING else None)


def _counts(outcome: Outcomes) -> tuple[int, int, int]:
    """Count the wins of the first, the wins of the second, and the ties."""
    lost, ties, won = np.bincount(outcome + 1, minlength=3).tolist()
    return won, lost, ties


def _bootstrap(first: str, second: str, part: Values, whole: Values, seed: int) -> Bootstrap:
    """Resample users; swapped runs have the same draws with opposite sign."""
    turn = 1 if first <= second else -1
    drawn = Drawn(turn * _drawn_ratios(turn * part, whole, np.random.default_rng(seed)))
    return Bootstrap(drawn.low, drawn.high, drawn.p, drawn.p)


def _drawn_ratios(part: Values, whole: Values, chance: np.random.Generator, draws: int = DRAWS) -> Values:
    """Divide the sums over as many users as there are, drawn with replacement. Shape: (draws,).

    Users with equal sums form one kind, and a draw is the count of each kind. The order of the users
    does not matter.
    """
    kinds, counts = np.unique(np.column_stack([part, whole]), axis=0, return_counts=True)
    step = max(1, MOST_CELLS // counts.size)
    sums = [
        chance.multinomial(part.size, counts / part.size, min(step, draws - begin)) @ kinds
        for begin in range(0, draws, step)
    ]
    parts, wholes = np.concatenate(sums).T
    ratio: Values = parts / wholes
    return ratio


def _corrected(scores: Sequence[PairScore]) -> tuple[PairScore, ...]:
    """Apply Holm's correction to the p values of all pairs, separately for the bootstrap."""
    tested = holm(np.array([np.nan if one.p is None else one.p for one in scores]))
    drawn = holm(np.array([np.nan if one.bootstrap is None else one.bootstrap.p for one in scores]))
    return tuple(
        replace(
            one,
            p_holm=None if one.p is None else float(tested[place]),
            bootstrap=None if one.bootstrap is None else replace(one.bootstrap, p_holm=float(drawn[place])),
        )
        for place, one in enumerate(scores)
    )


def _query_scores(
    log: ClickLog, credited: CreditedLists, names: Sequence[tuple[str, str]], outcomes: Sequence[Outcomes]
) -> Iterator[QueryScore]:
    """Score every two runs by query, for the queries with the most lists."""
    codes, place, lists = np.unique(credited.query, return_inverse=True, return_counts=True)
    texts = {int(code): None if code == NOT_SAID else log.queries[code] for code in codes}
    most = np.argsort(-lists, kind="stable")[: max(1, MOST_QUERY_ROWS // len(names))].tolist()
    most.sort(key=lambda one: (-lists[one], natural_order(texts[int(codes[one])] or "")))
    clicked = _clicked_documents(log, credited.rows)
    tables = [np.bincount(place * 3 + outcome + 1, minlength=codes.size * 3).reshape(-1, 3) for outcome in outcomes]
    for one in most:
        for name, table in zip(names, tables, strict=True):
            lost, ties, won = table[one].tolist()
            delta = (won - lost) / 2 / (won + lost + ties)
            code = int(codes[one])
            yield QueryScore(texts[code], *name, won, lost, ties, delta, clicked.get(code, ()))


def _clicked_documents(log: ClickLog, clicks: NDArray[np.intp]) -> dict[int, tuple[tuple[str, int], ...]]:
    """The most clicked docnos by query, ties by docno; clicks without a document are left out."""
    named = clicks[log.docno[clicks] != NOT_SAID]
    keys, counts = np.unique(np.stack([log.query[named], log.docno[named]]), axis=1, return_counts=True)
    found: dict[int, list[tuple[str, int]]] = {}
    for (query, docno), count in zip(keys.T.tolist(), counts.tolist(), strict=True):
        found.setdefault(query, []).append((log.docnos[docno], count))
    return {
        query: tuple(sorted(documents, key=lambda one: (-one[1], one[0]))[:MOST_DOCUMENTS])
        for query, documents in found.items()
    }
