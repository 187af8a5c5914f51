"""The parameters of strategies: parsing, validation, help and formatting."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from annotator.errors import InvalidValueError, Sentence
from annotator.evaluation.estimation.sample_sizes import Allocation
from annotator.evaluation.pooling.adaptive import Update
from annotator.evaluation.pooling.learned_order import BatchSize, CandidateSet
from annotator.evaluation.pooling.strata import Band, format_bands, parse_bands
from annotator.evaluation.pooling.topic_runs import Ties
from annotator.evaluation.stopping.rule_notation import WrittenRule, parse_rule

GREATEST_NUMBER = 999_999_999

Value = (
    int | str | Update | Ties | Allocation | CandidateSet | BatchSize | WrittenRule | tuple[Band, ...] | tuple[int, ...]
)


@dataclass(frozen=True)
class Parameter:
    """A parameter of strategies."""

    read: Callable[[str], Value | None]  # None for an invalid value
    refusal: Sentence  # its template has %(written)s for the value as written
    help: Sentence


def _whole_number(least: int) -> Callable[[str], int | None]:
    def read(written: str) -> int | None:
        is_number = written.isascii() and written.isdecimal() and len(written) <= len(str(GREATEST_NUMBER))
        return int(written) if is_number and int(written) >= least else None

    return read


def _update(written: str) -> Update | None:
    return next((update for update in Update if update.value == written.lower()), None)


def _ties(written: str) -> Ties | None:
    return next((ties for ties in Ties if ties.value == written.lower()), None)


def _allocation(written: str) -> Allocation | None:
    return next((allocation for allocation in Allocation if allocation.value == written.lower()), None)


def _candidates(written: str) -> CandidateSet | None:
    return next((candidates for candidates in CandidateSet if candidates.value == written.lower()), None)


def _batch(written: str) -> BatchSize | None:
    return next((batch for batch in BatchSize if batch.value == written.lower()), None)


def _ranks(written: str) -> tuple[int, ...] | None:
    """The last ranks of bands, ascending."""
    ranks = [_whole_number(1)(rank.strip()) for rank in written.split(",")]
    ends = [rank for rank in ranks if rank is not None]
    return tuple(ends) if len(ends) == len(ranks) and sorted(set(ends)) == ends else None


PARAMETERS: Mapping[str, Parameter] = {
    "depth": Parameter(
        _whole_number(1),
        Sentence("The depth must be a whole number from 1 to 999999999, not “%(written)s”."),
        Sentence("Look at this many documents of every run, the best ones."),
    ),
    "budget": Parameter(
        _whole_number(1),
        Sentence("The budget must be a whole number from 1 to 999999999, not “%(written)s”."),
        Sentence(
            "Have this many documents judged, divided evenly over the topics; adaptive strategies begin with more."
        ),
    ),
    "per_topic": Parameter(
        _whole_number(1),
        Sentence("The budget of a topic must be a whole number from 1 to 999999999, not “%(written)s”."),
        Sentence("Have this many documents of each topic judged; adaptive strategies begin with more."),
    ),
    "until": Parameter(
        parse_rule,
        Sentence("Write a stopping rule such as knee or in-a-row(in_a_row=30), not “%(written)s”."),
        Sentence(
            "Go on with each topic until this stopping rule says stop, such as knee, in-a-row(in_a_row=30) or "
            "target-set(target=0.9); instead of a budget."
        ),
    ),
    "start_depth": Parameter(
        _whole_number(0),
        Sentence("The depth to start with must be a whole number from 0 to 999999999, not “%(written)s”."),
        Sentence("First pool this many documents of every run, so that every run contributes; 0 for none."),
    ),
    "update": Parameter(
        _update,
        Sentence("The update must be all or pulled, not “%(written)s”."),
        Sentence("Which runs a judgement updates: all that have the document, or only the one it was pulled from."),
    ),
    "ties": Parameter(
        _ties,
        Sentence("The ties must be rrf, first-run or random, not “%(written)s”."),
        Sentence(
            "Tie-breaking: what RRF puts first (rrf), what the first run has (first-run), or what is drawn by the seed "
            "of the pool (random, the default of maxmean-ns)."
        ),
    ),
    "strata": Parameter(
        parse_bands,
        Sentence("The strata “%(written)s” cannot be read."),
        Sentence("Bands of best ranks with the share to be judged of each, such as 1-10:1, 11-50:0.2, 51-100:0.05."),
    ),
    "machine": Parameter(
        lambda written: written or None,
        Sentence("The name of a machine judge is missing."),
        Sentence("Sample, or choose what is judged, by the labels of this machine judge as well."),
    ),
    "certainty_depth": Parameter(
        _whole_number(0),
        Sentence("The certainty depth must be a whole number from 0 to 999999999, not “%(written)s”."),
        Sentence("Judge this many documents of every run in any case, the best ones; 0 for none."),
    ),
    "bands": Parameter(
        _ranks,
        Sentence("The bands must be ascending ranks such as 10, 30, not “%(written)s”."),
        Sentence("The last rank of each band of ranks; the last band ends at the depth."),
    ),
    "allocation": Parameter(
        _allocation,
        Sentence("The allocation must be neyman, proportional or equal, not “%(written)s”."),
        Sentence("How the budget is divided among strata: for the least error, by their sizes, or evenly."),
    ),
    "candidates": Parameter(
        _candidates,
        Sentence("The candidates must be pooled or corpus, not “%(written)s”."),
        Sentence("What a classifier chooses from: the documents of the runs (pooled), or all with a text (corpus)."),
    ),
    "batch": Parameter(
        _batch,
        Sentence("The batch must be 1 or grow, not “%(written)s”."),
        Sentence("How many judgements until a classifier is trained again: 1, or a tenth more every time (grow)."),
    ),
}


def read_parameter(name: str, written: str) -> Value:
    """Parse the value of one parameter; raises `InvalidValueError` with the parameter's own sentence."""
    value = PARAMETERS[name].read(written.strip())
    if value is None:
        raise InvalidValueError(PARAMETERS[name].refusal.template, written=written.strip())
    return value


def show(value: Value) -> str | int:
    """Convert a value to its stored form; numbers stay numbers."""
    if isinstance(value, Update | Ties | Allocation | CandidateSet | BatchSize):
        return str(value.value)
    if isinstance(value, int | str):
        return value
    if isinstance(value, WrittenRule):
        return str(value)
    bands = [one for one in value if isinstance(one, Band)]
    return format_bands(bands) if bands else ", ".join(map(str, value))
