"""Clicks beside judgements: whether users and judges prefer the same run, and the queries on which they differ most."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.significance.results import Undefined, shared_topics
from annotator.evaluation.significance.two_runs import paired_t

# Of a query that each variant showed less often, what was clicked is mostly chance.
LEAST_VIEWS = 10
MOST_QUERIES = 10


class Says(StrEnum):
    """What a difference with its interval says of two runs."""

    FIRST = "first"  # the first is better
    SECOND = "second"
    UNSURE = "unsure"  # it may be chance
    NOTHING = "nothing"  # there is no difference to speak of, or no interval of it


class Verdict(StrEnum):
    """Whether clicks and judgements agree on the better of two runs."""

    AGREE = "agree"
    OPPOSE = "oppose"
    CLICKS_OPPOSE = "clicks oppose"  # the clicks of one experiment those of another
    ONLY_JUDGED = "only judged"  # by clicks it may be chance
    ONLY_CLICKS = "only clicks"  # by judgements it may be chance
    UNSURE = "unsure"  # neither shows a difference beyond chance
    UNKNOWN = "unknown"  # one of the two is missing


@dataclass(frozen=True)
class Difference:
    """The second's value less the first's, with its 95 % interval; None where there is none."""

    value: float | None = None
    bounds: tuple[float, float] | None = None

    @property
    def says(self) -> Says:
        """Which of the two is better, when the interval leaves 0 out."""
        if self.value is None or self.bounds is None:
            return Says.NOTHING
        low, high = self.bounds
        if low > 0:
            return Says.SECOND
        return Says.FIRST if high < 0 else Says.UNSURE

    @property
    def turned(self) -> "Difference":
        """The first's value less the second's."""
        value = None if self.value is None else -self.value
        return Difference(value, None if self.bounds is None else (-self.bounds[1], -self.bounds[0]))


@dataclass(frozen=True)
class QueryBeside:
    """One topic that users asked for, by what the first and the second variant came to, with users and with judges.

    `shares` are CTR@1 of each, or of an interleaving the shares of the lists that each won, ties half.
    """

    topic: str
    views: tuple[int, int]  # or lists
    shares: tuple[float, float]
    judged: tuple[float, float]  # the measure of each run

    @property
    def online(self) -> float:
        """How much more users liked the second, by the shares."""
        return self.shares[1] - self.shares[0]

    @property
    def offline(self) -> float:
        """How much better the second is by the judgements."""
        return self.judged[1] - self.judged[0]

    @property
    def apart(self) -> float:
        """How far clicks and judgements differ on which run is better: 0 they agree, 2 is the most."""
        return abs(self.online - self.offline)


def judged_difference(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Compare two runs by their values on the same topics, one an entry, NaN where there is none; by the paired t test.

    Runs that are the same on every topic differ by 0 for certain; where all topics differ by the same amount, or there
    is only one, there is no interval.
    """
    shared = shared_topics(np.array([first, second], np.float64))
    found = paired_t((shared.scores[1] - shared.scores[0])[np.newaxis], shared.least_spread).of(0)
    if found.interval.reason is Undefined.NO_DIFFERENCE:
        return Difference(0.0, (0.0, 0.0))
    return Difference(found.difference.value, found.interval.bounds)


def verdict(judged: Difference, clicks: Iterable[Difference]) -> Verdict:
    """Hold what judges say of two runs against what clicks say of them, by one experiment or several."""
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
    """The queries on which clicks and judgements differ most, in descending order.

    What one of the variants showed less than `LEAST_VIEWS` times is left out, and so is what does not differ at all.
    """
    seen = [one for one in queries if min(one.views) >= LEAST_VIEWS and one.apart > 0]
    return sorted(seen, key=lambda one: (-one.apart, natural_order(one.topic)))[:most]


def topics_of_queries(titles: Mapping[str, str]) -> dict[str, str]:
    """What users may ask for → the number of the topic it is, from {number: title}: the number itself, or the title.

    A title that two topics share names neither. Look queries up as `folded` has them.
    """
    of_title: dict[str, set[str]] = {}
    for number, title in titles.items():
        of_title.setdefault(folded(title), set()).add(number)
    numbers = {text: next(iter(of_text)) for text, of_text in of_title.items() if text and len(of_text) == 1}
    return numbers | {folded(number): number for number in titles}


def folded(query: str) -> str:
    """A query without what nobody means by it: capitals, and blanks more than one."""
    return " ".join(query.casefold().split())
