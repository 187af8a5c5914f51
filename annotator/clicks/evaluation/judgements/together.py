"""Comparison of clicks with judgements: whether users and judges prefer the same run, and the queries on which not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.significance.results import Undefined, shared_topics
from annotator.evaluation.significance.two_runs import paired_t

# With fewer views of a variant, the clicks on a query are mostly chance.
LEAST_VIEWS = 10
MOST_QUERIES = 10


class Says(StrEnum):
    """The direction of a difference between two runs, given its interval."""

    FIRST = "first"  # the first is better
    SECOND = "second"
    UNSURE = "unsure"  # not significant
    NOTHING = "nothing"  # no difference, or no interval of it


class Verdict(StrEnum):
    """Whether clicks and judgements agree on the better of two runs."""

    AGREE = "agree"
    OPPOSE = "oppose"
    CLICKS_OPPOSE = "clicks oppose"  # the clicks of one experiment contradict those of another
    ONLY_JUDGED = "only judged"  # clicks are not significant
    ONLY_CLICKS = "only clicks"  # judgements are not significant
    UNSURE = "unsure"  # neither is significant
    UNKNOWN = "unknown"  # one of the two is missing


@dataclass(frozen=True)
class Difference:
    """Second minus first, with its 95 % interval; None where undefined."""

    value: float | None = None
    bounds: tuple[float, float] | None = None

    @property
    def says(self) -> Says:
        """Return the better run if the interval excludes 0."""
        if self.value is None or self.bounds is None:
            return Says.NOTHING
        low, high = self.bounds
        if low > 0:
            return Says.SECOND
        return Says.FIRST if high < 0 else Says.UNSURE

    @property
    def turned(self) -> "Difference":
        """First minus second."""
        value = None if self.value is None else -self.value
        return Difference(value, None if self.bounds is None else (-self.bounds[1], -self.bounds[0]))


@dataclass(frozen=True)
class QueryBeside:
    """A topic that users searched for, with the values of the first and the second variant by clicks and by judgements.

    `shares` are CTR@1 of each; for an interleaving, the shares of lists that each won, ties counting half.
    """

    topic: str
    views: tuple[int, int]  # or lists
    shares: tuple[float, float]
    judged: tuple[float, float]  # the measure of each run

    @property
    def online(self) -> float:
        """The difference of the shares, second minus first."""
        return self.shares[1] - self.shares[0]

    @property
    def offline(self) -> float:
        """The difference of the measure, second minus first."""
        return self.judged[1] - self.judged[0]

    @property
    def apart(self) -> float:
        """The distance between the differences by clicks and by judgements: 0 if they agree, at most 2."""
        return abs(self.online - self.offline)


def judged_difference(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Compare two runs by the paired t test; values are one a topic, NaN where missing.

    Runs that are equal on every topic differ by exactly 0; with one topic, or the same difference on all topics,
    there is no interval.
    """
    shared = shared_topics(np.array([first, second], np.float64))
    found = paired_t((shared.scores[1] - shared.scores[0])[np.newaxis], shared.least_spread).of(0)
    if found.interval.reason is Undefined.NO_DIFFERENCE:
        return Difference(0.0, (0.0, 0.0))
    return Difference(found.difference.value, found.interval.bounds)


def verdict(judged: Difference, clicks: Iterable[Difference]) -> Verdict:
    """Compare the difference by judgements with the differences by clicks, of one experiment or several."""
    offline = judged.says
    told = {one.says for one in clicks} - {Says.NOTHING}
    if offline is Says.NOTHING or not told:
        return Verdict.UNKNOWN
    sure = told - {Says.UNSURE}
    if len(sure) > 1:
        return Verdict.CLICKS_OPPOSE
    if not sure:
        return Verdict.UNSURE if offline is Says.UNSURE else Verdict.ONLY_JUDGED
    if offline is Says.UNSURE:
        return Verdict.ONLY_CLICKS
    return Verdict.AGREE if sure == {offline} else Verdict.OPPOSE


def most_apart(queries: Sequence[QueryBeside], most: int = MOST_QUERIES) -> list[QueryBeside]:
    """Return the `most` queries on which clicks and judgements differ most, in descending order.

    Queries with fewer than `LEAST_VIEWS` views of a variant are left out, and those without any difference.
    """
    seen = [one for one in queries if min(one.views) >= LEAST_VIEWS and one.apart > 0]
    return sorted(seen, key=lambda one: (-one.apart, natural_order(one.topic)))[:most]


def topics_of_queries(titles: Mapping[str, str]) -> dict[str, str]:
    """Map query strings to topic numbers, from {number: title}: a topic's own number, or its title.

    A title shared by two topics maps to neither. Keys are normalised by `folded`.
    """
    of_title: dict[str, set[str]] = {}
    for number, title in titles.items():
        of_title.setdefault(folded(title), set()).add(number)
    numbers = {text: next(iter(of_text)) for text, of_text in of_title.items() if text and len(of_text) == 1}
    return numbers | {folded(number): number for number in titles}


def folded(query: str) -> str:
    """Normalise a query: casefold, and collapse whitespace."""
    return " ".join(query.casefold().split())
