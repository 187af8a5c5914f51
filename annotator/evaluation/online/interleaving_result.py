"""What an interleaving came to, as a value that JSON can hold."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from annotator.errors import Sentence
from annotator.evaluation.figures import SentenceEnum
from annotator.evaluation.online.interleaved_lists import Method
from annotator.evaluation.online.interleaving_clicks import Uncounted


class NotTested(SentenceEnum):
    """Why there is no Δ, no interval or no p."""

    NO_LIST = Sentence("Not available: no list had a click that counts for a run.")
    ALL_TIED = Sentence("Not tested: neither run won a list, so there is nothing to test.")
    ONE_UNIT = Sentence("No interval: all lists are of one user or session, and from that no spread can be estimated.")
    NO_SPREAD = Sentence(
        "No interval: it came out the same for every user or session, and from that no spread can be estimated."
    )


@dataclass(frozen=True)
class Bootstrap:
    """Δ when users are drawn anew: the 95 % interval of percentiles, the two-sided p, and p by Holm over all pairs."""

    low: float
    high: float
    p: float
    p_holm: float


@dataclass(frozen=True)
class PairScore:
    """Two runs: on how many lists each had more of the clicks, and on how many they had as many.

    `delta` is Δ = (wins of the first + ties / 2) / lists - 1/2, from -1/2 to 1/2, above 0 where the first is preferred.
    Its 95 % interval is by the delta method over users. `p` is the exact two-sided binomial of the wins, without ties,
    and takes every list by itself; `p_holm` is corrected for all pairs. What is None has a reason.
    """

    first: str
    second: str
    wins_first: int
    wins_second: int
    ties: int
    delta: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    bootstrap: Bootstrap | None  # when it was asked for
    no_interval: NotTested | None  # why there is none, and no bootstrap either
    no_p: NotTested | None


@dataclass(frozen=True)
class QueryScore:
    """The same of the lists of one query; `query` is None where the log does not say."""

    query: str | None
    first: str
    second: str
    wins_first: int
    wins_second: int
    ties: int
    delta: float


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
            "queries": tuple(QueryScore(**one) for one in stored["queries"]),
        }
    )


def _pair_from_json(stored: Mapping[str, Any]) -> PairScore:
    bootstrap = stored["bootstrap"]
    return PairScore(
        **{
            **stored,
            "bootstrap": None if bootstrap is None else Bootstrap(**bootstrap),
            "no_interval": _reason(stored["no_interval"]),
            "no_p": _reason(stored["no_p"]),
        }
    )


def _name(reason: NotTested | None) -> str | None:
    return None if reason is None else reason.name


def _reason(name: str | None) -> NotTested | None:
    return None if name is None else NotTested[name]
