"""What an interleaving came to, as a value that JSON can hold."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from annotator.clicks.evaluation.interleaving.interleaved_lists import Method
from annotator.clicks.evaluation.interleaving.interleaving_clicks import Uncounted
from annotator.errors import Sentence
from annotator.evaluation.metrics.figures import SentenceEnum

ALPHA = 0.05
# Stated wherever balanced interleaving is chosen or was used.
BALANCED_BIAS = Sentence(
    "Balanced interleaving has a known bias: where one run has the documents of the other moved up by one (a b c d and "
    "b c d a), users who click at random prefer it (Chapelle et al. 2012). Team draft does not have this bias."
)


class ListTest(StrEnum):
    """How p was found. Lists of one user are not independent, so users with several lists are the units of a t test."""

    T_OVER_USERS = "t test over users"
    T_OVER_SESSIONS = "t test over sessions, users unknown"
    BINOMIAL = "exact binomial, one list per user"
    BINOMIAL_OF_SESSIONS = "exact binomial of lists, users unknown"

    @property
    def is_by_user(self) -> bool:
        """Whether users are known, without whom no result is called significant."""
        return self in {ListTest.T_OVER_USERS, ListTest.BINOMIAL}


class NotTested(SentenceEnum):
    """Why there is no Δ, no interval or no p."""

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
    """Δ when users are resampled: the 95 % interval of percentiles, the two-sided p, and p by Holm over all pairs."""

    low: float
    high: float
    p: float
    p_holm: float


@dataclass(frozen=True)
class PairScore:
    """Two runs: on how many lists each had more of the clicks, and on how many they had as many.

    `delta` is Δ = (wins of the first + ties / 2) / lists - 1/2, from -1/2 to 1/2, above 0 where the first is preferred.
    `user_delta` is the mean of the users' own Δ, to which the 95 % interval belongs; `p`, two-sided, is by `test`, and
    `p_holm` is corrected for all pairs. What is None has a reason.
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
    test: ListTest | None  # None of a result that an earlier version kept
    p: float | None
    p_holm: float | None
    bootstrap: Bootstrap | None  # when it was asked for
    no_interval: NotTested | None  # why there is none, and no bootstrap either
    no_p: NotTested | None

    @property
    def is_significant(self) -> bool:
        """Whether the two differ at 5 %, all pairs considered, by a test that has a user as its unit."""
        is_by_user = self.test is not None and self.test.is_by_user
        return is_by_user and self.p_holm is not None and self.p_holm < ALPHA


@dataclass(frozen=True)
class QueryScore:
    """Scores of the lists of one query; `query` is None where the log has none.

    `clicked` are the docnos with most clicks on any of its lists, most first; empty in a result of an earlier version.
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
    """All of it; pairs in the order of the runs, queries with the most lists first."""

    runs: tuple[str, ...]
    clicks: tuple[int, ...]  # that count, of each run
    method: Method | None  # None where the log itself says whose each click is
    shown: int | None  # lists in all; None when the log has no impressions
    lists: int  # with a click that counts; Δ is of these alone
    units: int  # users, or where the log names none sessions, that have such a list
    has_users: bool
    seed: int | None  # of the bootstrap
    uncounted: Mapping[Uncounted, int]  # clicks that count for no run, by reason
    pairs: tuple[PairScore, ...]
    queries: tuple[QueryScore, ...]  # of the queries with the most lists
    queries_in_all: int


def to_json(result: InterleavingResult) -> dict[str, Any]:
    """Give the result as JSON has it; reasons by their names."""
    return {
        **asdict(result),
        "uncounted": {reason.value: count for reason, count in result.uncounted.items()},
        "pairs": [
            {**asdict(pair), "no_interval": _name(pair.no_interval), "no_p": _name(pair.no_p)} for pair in result.pairs
        ],
    }


def from_json(stored: Mapping[str, Any]) -> InterleavingResult:
    """Read what `to_json` gave."""
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


# What a result that was kept before tests were by user does not say.
EARLIER = {
    **dict.fromkeys(("user_delta", "low", "high", "test", "p", "p_holm")),
    **dict.fromkeys(("no_interval", "no_p"), NotTested.KEPT_EARLIER.name),
}


def _name(reason: NotTested | None) -> str | None:
    return None if reason is None else reason.name


def _reason(name: str | None) -> NotTested | None:
    return None if name is None else NotTested[name]
