"""Results of statistics of runs, topics or a collection: a value, or the reason why it is undefined."""

from annotator.errors import Sentence
from annotator.evaluation.metrics.figures import Figure, SentenceEnum
from annotator.evaluation.significance.rank_correlation import Similarity


class Missing(SentenceEnum):
    """The reason why there is no value."""

    NO_JUDGEMENT = Sentence("Nothing has been judged yet.")
    NO_RUN = Sentence("There is no run.")
    ONE_RUN = Sentence("There is only one run, so there is nothing to compare it with.")
    ONE_TOPIC = Sentence("There is only one topic, so the variation over topics is unknown.")
    NOTHING_RELEVANT = Sentence("No document has been judged relevant.")
    NOTHING_RETURNED = Sentence("Nothing was returned.")
    NO_ORDER = Sentence("All runs have the same value, so there is no order to compare.")
    ZERO = Sentence("The value is 0, so there is no relative difference.")
    NO_POOL = Sentence("No judged document was put into the pool by a run or a search.")
    ONE_SOURCE = Sentence(
        "Only one contributed to the pool, so that without it nothing would have been judged: leaving it out shows "
        "nothing."
    )
    NO_FED_RUN = Sentence("None of the runs has put a judged document into the pool.")
    FEW_DEPTHS = Sentence("The judged pool is less than three documents deep, too few for a curve to be fitted.")
    NO_SPREAD = Sentence("There is no interval: however the topics are drawn, the value is the same.")
    NEITHER_BETTER = Sentence("This measure says nothing about which run is better.")


TOO_FEW_RUNS = {0: Missing.NO_RUN, 1: Missing.ONE_RUN}  # why nothing can be compared, by number of runs


def share_of(part: float, whole: float, otherwise: Missing) -> Figure:
    """Divide; for a zero divisor return the reason."""
    return Figure(part / whole) if whole else Figure(None, otherwise)


def tau_figure(similarity: Similarity, runs: int) -> Figure:
    """Return Kendall's tau-b of two rankings of `runs` runs, or the reason why it is undefined."""
    if similarity.tau is not None:
        return Figure(similarity.tau)
    return Figure(None, TOO_FEW_RUNS.get(runs, Missing.NO_ORDER))
