"""The measures by name: what each takes, and how it is shown, explained and computed."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from annotator.evaluation.metrics.graded import ndcg
from annotator.evaluation.metrics.incomplete import bpref, judged_share
from annotator.evaluation.metrics.means import means, totals
from annotator.evaluation.metrics.ranked import (
    average_precision,
    precision,
    r_precision,
    recall,
    reciprocal_rank,
    success,
)
from annotator.evaluation.metrics.sets import (
    relevant_count,
    relevant_retrieved_count,
    retrieved_count,
    set_precision,
    set_recall,
)
from annotator.evaluation.metrics.setting import Setting, Values
from annotator.evaluation.rankings import JudgedRankings


class Cutoff(Enum):
    """Whether a measure is taken over the top k documents only."""

    NEVER = "never"
    POSSIBLE = "possible"
    NEEDED = "needed"


@dataclass(frozen=True)
class Definition:
    """A measure before anyone has said where to cut and from which grade on documents are relevant."""

    function: Callable[[JudgedRankings, Setting], Values]
    cutoff: Cutoff
    also_called: tuple[str, ...] = ()  # lower case; trec_eval's names among them
    is_binary: bool = True  # asks which documents are relevant, so takes rel=
    over_topics: Callable[[Values], Values] = means


@dataclass(frozen=True)
class Measure:
    """A measure as asked for: `nDCG@10`, `AP(rel=2)`. `parse_measure` makes them and checks what fits together."""

    name: str
    cutoff: int | None = None
    relevant_from: int | None = None  # None: what the collection says

    def __str__(self) -> str:
        """Write it as `parse_measure` reads it."""
        rel = "" if self.relevant_from is None else f"(rel={self.relevant_from})"
        cutoff = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"{self.name}{rel}{cutoff}"

    @property
    def definition(self) -> Definition:
        """The measure without its cutoff and rel."""
        return MEASURES[self.name]

    @property
    def help(self) -> str:
        """What it measures, in which range, and what happens at the edges: the docstring of its function."""
        return inspect.getdoc(self.definition.function) or ""

    def values(self, judged: JudgedRankings, relevant_from: int) -> Values:
        """Compute one value a ranking; the measure's own rel goes before the collection's `relevant_from`."""
        least = relevant_from if self.relevant_from is None else self.relevant_from
        return self.definition.function(judged, Setting(least, self.cutoff))

    def over_topics(self, values: Values) -> Values:
        """Summarise along the last axis, one entry a topic in the order of the topic numbers' bytes.

        The mean; for counts the sum, as trec_eval does. Raises `InvalidValueError` when there is no topic.
        """
        return self.definition.over_topics(values)


MEASURES = {
    "nDCG": Definition(ndcg, Cutoff.POSSIBLE, ("ndcg_cut",), is_binary=False),
    "AP": Definition(average_precision, Cutoff.POSSIBLE, ("map", "map_cut")),
    "P": Definition(precision, Cutoff.NEEDED, ("precision",)),
    "R": Definition(recall, Cutoff.NEEDED, ("recall",)),
    "Success": Definition(success, Cutoff.NEEDED),
    "RR": Definition(reciprocal_rank, Cutoff.POSSIBLE, ("mrr", "recip_rank")),
    "Rprec": Definition(r_precision, Cutoff.NEVER),
    "Bpref": Definition(bpref, Cutoff.NEVER),
    "Judged": Definition(judged_share, Cutoff.NEEDED, is_binary=False),
    "NumRet": Definition(retrieved_count, Cutoff.NEVER, ("num_ret",), is_binary=False, over_topics=totals),
    "NumRel": Definition(relevant_count, Cutoff.NEVER, ("num_rel",), over_topics=totals),
    "NumRelRet": Definition(relevant_retrieved_count, Cutoff.NEVER, ("num_rel_ret",), over_topics=totals),
    "SetP": Definition(set_precision, Cutoff.NEVER, ("set_p",)),
    "SetR": Definition(set_recall, Cutoff.NEVER, ("set_recall",)),
}
