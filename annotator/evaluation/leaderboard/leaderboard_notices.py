"""Notices beside scores: little to compare, nothing to find, or a sampled pool."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Protocol

import numpy as np

from annotator.errors import ConflictError, Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.leaderboard import ENOUGH_JUDGED, BoardValues, LeaderboardRow, judged_beside
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.significance.results import LEAST_SPREAD

# Scores of one round differ from those without a selected round.
EVERY_ROUND = Sentence(
    "This collection has rounds. The runs of every round are scored here, whole: nothing that was judged before a "
    "round is taken out."
)
# A mean over the topics of all tasks compares nothing: a run has no results for topics of other tasks.
EVERY_TASK = Sentence(
    "This collection has tasks. The runs of every task are scored here, on the topics of all: a run has no results for "
    "topics of other tasks, and scores 0 on them. Choose a task to compare its runs."
)


def notices(
    values: BoardValues, rows: Sequence[LeaderboardRow], relevant: Sequence[int], judges: int, best_grade: int
) -> tuple[Sentence, ...]:
    """Return the notices for these values; `relevant` is the number of relevant documents of each topic.

    `judges` is 0 if unknown.
    """
    return (
        *_of_size(values, judges),
        *_of_relevance(values.topics, relevant),
        *(sentence for measure in values.measures for sentence in _of_measure(measure, best_grade)),
        *(sentence for measure in values.measures if any(relevant) for sentence in _of_equals(values, measure)),
        *_of_judging(rows),
    )


def released_by_version(number: int, kept_at: datetime) -> Sentence:
    """Return the notice which grades participants' scores are computed from, shown beside other grades."""
    return Sentence(
        "Released scores are computed from version %(number)d of the qrels, kept on %(day)s, not from these grades.",
        {"number": number, "day": f"{kept_at.astimezone(UTC):%Y-%m-%d}"},
    )


def ignored_beside_version(
    number: int, policy: str, *, judge: str | None, other_policy: str | None
) -> tuple[Sentence, ...]:
    """The notice that a requested judge or another policy has no effect on a version of the qrels."""
    beside = judge if judge is not None else other_policy
    if beside is None or (judge is None and other_policy == policy):
        return ()
    return (
        Sentence(
            "Version %(number)d of the qrels has its own grades, settled by %(policy)s: the requested “%(beside)s” "
            "has no effect.",
            {"number": number, "policy": policy, "beside": beside},
        ),
    )


def unjudged_notices(topics: Sequence[str]) -> tuple[Sentence, ...]:
    """The notice that topics without judgements in the file count nevertheless."""
    if not topics:
        return ()
    numbers = ", ".join(sorted(topics, key=natural_order))
    return (
        Sentence(
            "Topics with unjudged documents only (-1) in the file; they count, with 0 for most measures "
            "of every run, as in trec_eval: %(topics)s.",
            {"topics": numbers},
        ),
    )


def _of_size(values: BoardValues, judges: int) -> Iterator[Sentence]:
    if len(values.runs) == 1:
        yield Sentence("There is one run only, so there is none to compare it with.")
    if len(values.topics) == 1:
        yield Sentence("Only one topic is scored: intervals and tests need more.")
    if judges == 1:
        yield Sentence("All grades are from one judge, so agreement cannot be measured.")


def _of_relevance(topics: Sequence[str], relevant: Sequence[int]) -> Iterator[Sentence]:
    without = [number for number, count in zip(topics, relevant, strict=True) if not count]
    if len(without) == len(topics):
        yield Sentence("No document is relevant in any topic so far, so most measures are 0 for every run.")
    elif without:
        yield Sentence(
            "Topics without a relevant document, where most measures are 0 for every run: %(topics)s.",
            {"topics": ", ".join(without)},
        )


def _of_measure(measure: Measure, best_grade: int) -> Iterator[Sentence]:
    least = dict(measure.parameters).get("rel")
    if isinstance(least, int) and least > best_grade:
        yield Sentence(
            "%(measure)s counts grade %(grade)d and higher as relevant, but the best grade of this scale is "
            "%(best)d: nothing is relevant.",
            {"measure": str(measure), "grade": least, "best": best_grade},
        )


def _of_equals(values: BoardValues, measure: Measure) -> Iterator[Sentence]:
    scores = values.values[measure]
    is_score = judged_beside(measure) is not None
    if (
        is_score
        and len(values.runs) > 1
        and (np.ptp(scores, axis=0) <= LEAST_SPREAD * np.abs(scores).max(initial=0)).all()
    ):
        yield Sentence(
            "All runs have the same %(measure)s on every topic. Which is better is not defined: no difference.",
            {"measure": str(measure)},
        )


def _of_judging(rows: Sequence[LeaderboardRow]) -> Iterator[Sentence]:
    low = sum(row.low for row in rows)
    if low:
        yield Sentence(
            "%(count)d of %(all)d runs: less than %(percent)d %% of the documents that a score uses are judged. "
            "Unjudged documents count as not relevant, so their scores may be too low.",
            {"percent": round(100 * ENOUGH_JUDGED), "count": low, "all": len(rows)},
        )
    outside = sum(not row.run.fed_pool for row in rows)
    if outside == len(rows):
        yield Sentence("None of these runs was pooled.")
    elif outside:
        yield Sentence(
            "Runs that were not pooled, marked ○: %(count)d of %(all)d. Documents that only they found are unjudged.",
            {"count": outside, "all": len(rows)},
        )


ESTIMATES = "infAP, xinfAP, infNDCG"
# Measures of a run that do not depend on the sample, or that measure its size.
NOT_LOWERED = frozenset({"Judged", "Unjudged", "NumRet", "NumQ"})


class SampleFacts(Protocol):
    """A sample as a whole."""

    @property
    def version(self) -> int:
        """The version of the pool that drew it."""

    @property
    def rates(self) -> tuple[float, ...]:
        """The sampling rates of its strata, from the top down."""

    @property
    def documents(self) -> int:
        """The number of documents in its strata."""

    @property
    def drawn(self) -> int:
        """The number of documents drawn."""


def sample_notices(sample: SampleFacts | None, measures: Iterable[Measure]) -> tuple[Sentence, ...]:
    """Name the measures that a sample underestimates, and infAP if its documents had different rates."""
    return () if sample is None else tuple(_notices(sample, list(measures)))


def notices_of_sides(sides: Iterable[tuple[SampleFacts | None, Measure]]) -> tuple[Sentence, ...]:
    """Return the notices of compared scores, each with a sample and a measure; a common sample is named once."""
    by_sample: dict[SampleFacts | None, list[Measure]] = {}
    for sample, measure in sides:
        by_sample.setdefault(sample, []).append(measure)
    return tuple(
        sentence
        for sample, measures in by_sample.items()
        for sentence in sample_notices(sample, dict.fromkeys(measures))
    )


def refuse_estimates(sample: SampleFacts | None, measures: Iterable[Measure]) -> None:
    """Raise `ConflictError` for a measure that estimates when documents are removed from the pool as an experiment.

    Documents that were not drawn have no grade to remove, so the remaining strata would be unknown.
    """
    for measure in measures:
        if sample is not None and measure.definition.estimates:
            raise ConflictError(
                "%(measure)s estimates from the sample of version %(version)d of the pool. A pool with fewer documents "
                "would have drawn another sample, so that it cannot be computed here: choose another measure.",
                measure=str(measure),
                version=sample.version,
            )


def _notices(sample: SampleFacts, measures: list[Measure]) -> Iterator[Sentence]:
    lowered = [one for one in measures if not one.definition.estimates and one.name not in NOT_LOWERED]
    if lowered and sample.drawn < sample.documents:
        yield Sentence(
            "The pool is a sample: version %(version)d drew %(drawn)d of %(documents)d documents. Only %(estimates)s "
            "are estimated from it. These count every document that was not drawn as not relevant, so that their "
            "values are those of a smaller pool: %(measures)s.",
            {
                "version": sample.version,
                "drawn": sample.drawn,
                "documents": sample.documents,
                "estimates": ESTIMATES,
                "measures": ", ".join(map(str, lowered)),
            },
        )
    if len(set(sample.rates)) > 1 and any(one.name == "infAP" for one in measures):
        yield Sentence(
            "The strata of the sample (version %(version)d of the pool) were drawn at different rates, by which infAP "
            "is biased: use xinfAP.",
            {"version": sample.version},
        )
