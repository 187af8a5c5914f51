"""What must be known of scores where the pool is a sample: which of them are estimates, and which are too low."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from annotator.errors import ConflictError, Sentence
from annotator.evaluation.metrics.measures import Measure

ESTIMATES = "infAP, xinfAP, infNDCG"
# What they say of a run does not depend on what was drawn, or is how much was.
NOT_LOWERED = frozenset({"Judged", "Unjudged", "NumRet", "NumQ"})


class SampleFacts(Protocol):
    """A sample as a whole."""

    @property
    def version(self) -> int:
        """The version of the pool that drew it."""

    @property
    def rates(self) -> tuple[float, ...]:
        """The rates of its strata, from the top down."""

    @property
    def documents(self) -> int:
        """How many documents its strata have."""

    @property
    def drawn(self) -> int:
        """How many of them were drawn."""


def sample_notices(sample: SampleFacts | None, measures: Iterable[Measure]) -> tuple[Sentence, ...]:
    """Name the measures that a sample makes too low, and infAP where its documents had different chances."""
    return () if sample is None else tuple(_notices(sample, list(measures)))


def notices_of_sides(sides: Iterable[tuple[SampleFacts | None, Measure]]) -> tuple[Sentence, ...]:
    """The same of scores that are compared, each by a sample and a measure; a sample that both have is named once."""
    by_sample: dict[SampleFacts | None, list[Measure]] = {}
    for sample, measure in sides:
        by_sample.setdefault(sample, []).append(measure)
    return tuple(
        sentence
        for sample, measures in by_sample.items()
        for sentence in sample_notices(sample, dict.fromkeys(measures))
    )


def refuse_estimates(sample: SampleFacts | None, measures: Iterable[Measure]) -> None:
    """Raise `ConflictError` for a measure that estimates, where documents are taken out of the pool as an experiment.

    What was not drawn has no grade to take out, so that the strata that would be left are not known.
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
