"""The measures by name: parameters, display, help and computation."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from math import inf

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics import (
    confusion,
    gain_levels,
    graded,
    incomplete,
    interpolated,
    ranked,
    sampled,
    screening,
    sets,
)
from annotator.evaluation.metrics import continuation as cwl
from annotator.evaluation.metrics import subtopics as novelty
from annotator.evaluation.metrics import user_models as users
from annotator.evaluation.metrics.gains import LINEAR
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.parameters import LARGEST_SCALE, PARAMETERS, Value, show, show_in_ir_measures
from annotator.evaluation.metrics.setting import Compat, Setting, Values, geometric_means, means, totals


class Cutoff(Enum):
    """The kinds of cutoff after a measure's @."""

    NEVER = "never"
    POSSIBLE = "possible"  # the measure is taken over the top k documents only
    NEEDED = "needed"
    LEVEL = "level"  # a recall, or a multiple of R


class Better(StrEnum):
    """The direction of a measure: which of two values is better."""

    MORE = "more"
    LESS = "less"
    NEITHER = "neither"  # it describes the topics, or a property of the run without merit


FROM_ZERO, UNBOUNDED = (0.0, inf), (-inf, inf)
BINARY: Mapping[str, Value | None] = {"rel": None}
GRADED: Mapping[str, Value | None] = {"gain": LINEAR}
SCALED: Mapping[str, Value | None] = {"min_rel": 0, "max": None}
WANTING: Mapping[str, Value | None] = {"T": 1.0, **SCALED}
NOVEL: Mapping[str, Value | None] = {**BINARY, "alpha": 0.5}


@dataclass(frozen=True)
class Definition:
    """A measure without its cutoff and parameters."""

    function: Callable[[JudgedRankings, Setting], Values]
    cutoff: Cutoff = Cutoff.NEVER
    also_called: tuple[str, ...] = ()  # lower case
    takes: Mapping[str, Value | None] = field(default_factory=lambda: BINARY)  # with the defaults
    needs: tuple[str, ...] = ()  # the required ones of these
    over_topics: Callable[[Values], Values] = means
    better: Better = Better.MORE
    bounds: tuple[float, float] = (0.0, 1.0)  # the least and greatest value of a topic, and of a mean; not of counts
    is_coverage: bool = False  # it measures how much is judged, without merit
    estimates: bool = False  # estimated from a sample, if the pool is one
    by_subtopic: bool = False  # from grades by subtopic, which only qrels given as files or values may have

    @property
    def is_count(self) -> bool:
        """Whether values are whole numbers that are summed over topics."""
        return self.over_topics is totals

    @property
    def is_merit(self) -> bool:
        """Whether the measure can rank runs: neither counts nor shares of judged documents can."""
        return not self.is_count and not self.is_coverage


@dataclass(frozen=True)
class Measure:
    """A requested measure: `nDCG@10`, `AP(rel=2)`. `parse_measure` creates and validates it."""

    name: str
    cutoff: int | float | None = None  # a float for a recall or a multiple of R
    parameters: tuple[tuple[str, Value], ...] = ()  # in the order of `PARAMETERS`, without defaults

    def __str__(self) -> str:
        """Format it as `parse_measure` reads it."""
        inside = ",".join(f"{name}={show(value)}" for name, value in self.parameters)
        brackets = f"({inside})" if inside else ""
        cutoff = "" if self.cutoff is None else f"@{show(self.cutoff)}"
        return f"{self.name}{brackets}{cutoff}"

    @property
    def in_ir_measures(self) -> str:
        """Format it as ir_measures reads it, if it has the measure; `parse_measure` reads that, too."""
        inside = ",".join(show_in_ir_measures(name, value) for name, value in self.parameters)
        brackets = f"({inside})" if inside else ""
        return f"{self.name}{brackets}{'' if self.cutoff is None else f'@{show(self.cutoff)}'}"

    @property
    def definition(self) -> Definition:
        """The measure without its cutoff and parameters."""
        return MEASURES[self.name]

    @property
    def help(self) -> str:
        """What it measures, its range and edge cases: the docstring of its function."""
        return inspect.getdoc(self.definition.function) or ""

    def values(
        self,
        judged: JudgedRankings,
        relevant_from: int,
        *,
        judged_only: bool = False,
        compat: Compat = Compat.TREC_EVAL_10,
        best_grade: int | None = None,
    ) -> Values:
        """Compute one value a ranking; the measure's own parameters take precedence over the arguments.

        `best_grade` is that of the collection's scale; by default, measures that need one take the best in the qrels.
        Raises `InvalidValueError` for a measure by subtopic when the qrels have none.
        """
        if self.definition.by_subtopic and judged.subtopics is None:
            raise InvalidValueError(
                "%(measure)s needs qrels with subtopics, whose second column, or column subtopic, names several of a "
                "topic. These have none.",
                measure=self,
            )
        said = dict(self.parameters)
        lists = judged.judged_only if said.pop("judged_only", judged_only) else judged
        fields: dict[str, object] = {"relevant_from": relevant_from, "compat": compat, "max_grade": best_grade}
        fields["is_graded"] = "gain" in said
        fields |= {
            PARAMETERS[name].field: value for name, value in self.definition.takes.items() if value is not None
        } | {PARAMETERS[name].field: value for name, value in said.items()}
        if self.cutoff is not None:
            fields["level" if self.definition.cutoff is Cutoff.LEVEL else "cutoff"] = self.cutoff
        return self.definition.function(lists, Setting(**fields))  # type: ignore[arg-type]  # names are those of Setting

    def on_scale(self, best_grade: int) -> "Measure":
        """Return the measure with the best grade of a scale as a parameter, if it depends on one and has none.

        So no value depends on a grade that its name does not show.
        """
        said = dict(self.parameters)
        depends = "max" in self.definition.takes and (self.name != "RBP" or "gain" in said)
        if not depends or "max" in said or not 1 <= best_grade <= LARGEST_SCALE:
            return self
        said["max"] = best_grade
        return replace(self, parameters=tuple((name, said[name]) for name in PARAMETERS if name in said))

    def over_topics(self, values: Values) -> Values:
        """Summarise along the last axis, one entry a topic in the order of the topic numbers' bytes.

        The mean; for counts the sum, as trec_eval does; for GMAP the geometric mean. Raises `InvalidValueError` when
        there is no topic.
        """
        return self.definition.over_topics(values)


# Named as in ir_measures, and as in trec_eval what ir_measures does not have. trec_eval's further names, which
# also give its output names, are in `trec_eval_names`.
MEASURES = {
    "nDCG": Definition(graded.ndcg, Cutoff.POSSIBLE, takes=GRADED),
    "DCG": Definition(graded.dcg, Cutoff.POSSIBLE, takes=GRADED, bounds=FROM_ZERO),
    "CG": Definition(graded.cg, Cutoff.POSSIBLE, takes=GRADED, bounds=FROM_ZERO),
    "AP": Definition(ranked.average_precision, Cutoff.POSSIBLE, ("map",), takes={**BINARY, "norm": None}),
    "GMAP": Definition(ranked.geometric_average_precision, over_topics=geometric_means),
    "P": Definition(ranked.precision, Cutoff.NEEDED, ("precision",)),
    "relative_P": Definition(ranked.relative_precision, Cutoff.NEEDED),
    "R": Definition(ranked.recall, Cutoff.NEEDED, ("recall",)),
    "Success": Definition(ranked.success, Cutoff.NEEDED, ("hit", "hitrate", "hit_rate")),
    "RR": Definition(ranked.reciprocal_rank, Cutoff.POSSIBLE, ("mrr",)),
    "Rprec": Definition(ranked.r_precision),
    "Rprec_mult": Definition(ranked.r_precision_at_multiple, Cutoff.LEVEL),
    "IPrec": Definition(interpolated.interpolated_precision, Cutoff.LEVEL),
    "11ptAvg": Definition(interpolated.eleven_point_average),
    "Bpref": Definition(incomplete.bpref),
    "GMBpref": Definition(incomplete.geometric_bpref, over_topics=geometric_means),
    "infAP": Definition(incomplete.inferred_average_precision, takes={**BINARY, "compat": None}, estimates=True),
    "xinfAP": Definition(sampled.stratified_average_precision, takes={**BINARY, "prior": None}, estimates=True),
    "infNDCG": Definition(
        sampled.stratified_ndcg,
        Cutoff.POSSIBLE,
        takes={**GRADED, "compat": None},
        bounds=FROM_ZERO,
        estimates=True,
    ),
    "ERR": Definition(users.expected_reciprocal_rank, Cutoff.POSSIBLE, takes={"max": None}),
    "nERR": Definition(users.normalised_expected_reciprocal_rank, Cutoff.POSSIBLE, takes={"max": None}),
    "RBP": Definition(
        users.rank_biased_precision, Cutoff.POSSIBLE, takes={**BINARY, "p": 0.8, "gain": None, "max": None}
    ),
    "RBPResidual": Definition(
        users.rank_biased_residual, Cutoff.POSSIBLE, takes={"p": 0.8}, better=Better.LESS, is_coverage=True
    ),
    "INST": Definition(cwl.inst, takes=WANTING),
    "INSQ": Definition(cwl.insq, takes=WANTING),
    "BPM": Definition(cwl.bejeweled_player_model, Cutoff.NEEDED, takes=WANTING),
    "SDCG": Definition(cwl.scaled_dcg, Cutoff.NEEDED, takes=SCALED),
    "NERR8": Definition(cwl.nearly_err_cut_off, Cutoff.NEEDED, takes=SCALED),
    "NERR9": Definition(cwl.nearly_err_discounted, Cutoff.NEEDED, takes=SCALED),
    "NERR10": Definition(cwl.nearly_err_patient, takes={"p": 0.9, **SCALED}),
    "NERR11": Definition(cwl.nearly_err_wanting, takes=WANTING),
    "Compat": Definition(users.compatibility, takes={"p": 0.95, "normalize": True}),
    "Q": Definition(users.q_measure, Cutoff.POSSIBLE, takes={**BINARY, "beta": 1.0, "gain": LINEAR}),
    "alpha_DCG": Definition(novelty.alpha_dcg, Cutoff.NEEDED, ("\u03b1_dcg",), takes=NOVEL, by_subtopic=True),
    "alpha_nDCG": Definition(
        novelty.alpha_ndcg, Cutoff.NEEDED, ("\u03b1_ndcg",), takes=NOVEL, bounds=FROM_ZERO, by_subtopic=True
    ),
    "ERR_IA": Definition(novelty.intent_aware_err, Cutoff.NEEDED, by_subtopic=True),
    "nERR_IA": Definition(novelty.normalised_intent_aware_err, Cutoff.NEEDED, bounds=FROM_ZERO, by_subtopic=True),
    "NRBP": Definition(novelty.novelty_biased_precision, takes={**NOVEL, "beta": 0.5}, by_subtopic=True),
    "nNRBP": Definition(
        novelty.normalised_novelty_biased_precision, takes={**NOVEL, "beta": 0.5}, bounds=FROM_ZERO, by_subtopic=True
    ),
    "P_IA": Definition(novelty.intent_aware_precision, Cutoff.NEEDED, by_subtopic=True),
    "AP_IA": Definition(novelty.intent_aware_average_precision, also_called=("map_ia",), by_subtopic=True),
    "StRecall": Definition(novelty.subtopic_recall, Cutoff.NEEDED, by_subtopic=True),
    "SetP": Definition(sets.set_precision),
    "SetR": Definition(sets.set_recall),
    "SetF": Definition(sets.set_f, takes={**BINARY, "beta": 1.0}),
    "set_map": Definition(sets.set_average_precision, also_called=("setap",)),
    "set_relative_P": Definition(sets.set_relative_precision, also_called=("setrelp",)),
    "Accuracy": Definition(confusion.accuracy, takes={**BINARY, "docs": None}, needs=("docs",)),
    "TP": Definition(confusion.true_positives, over_topics=totals),
    "FP": Definition(confusion.false_positives, over_topics=totals, better=Better.LESS),
    "FN": Definition(confusion.false_negatives, over_topics=totals, better=Better.LESS),
    "TN": Definition(confusion.true_negatives, takes={**BINARY, "docs": None}, needs=("docs",), over_topics=totals),
    "Judged": Definition(incomplete.judged_share, Cutoff.NEEDED, takes={}, is_coverage=True),
    "Unjudged": Definition(incomplete.unjudged_share, Cutoff.NEEDED, takes={}, better=Better.LESS, is_coverage=True),
    "NumQ": Definition(sets.topic_count, takes={}, over_topics=totals, better=Better.NEITHER),
    "NumRet": Definition(sets.retrieved_count, takes={}, over_topics=totals, better=Better.NEITHER),
    "NumRel": Definition(sets.relevant_count, over_topics=totals, better=Better.NEITHER),
    "NumRelRet": Definition(sets.relevant_retrieved_count, over_topics=totals),
    "num_nonrel_judged_ret": Definition(sets.nonrelevant_retrieved_count, over_topics=totals, better=Better.LESS),
    "utility": Definition(sets.utility, bounds=UNBOUNDED),
    "ndcg_rel": Definition(gain_levels.ndcg_at_relevant, takes=GRADED),
    "Rndcg": Definition(gain_levels.ndcg_at_levels, takes=GRADED),
    "G": Definition(gain_levels.g_measure, takes=GRADED),
    "binG": Definition(gain_levels.binary_g),
    "last_rel": Definition(screening.last_relevant, better=Better.LESS, bounds=FROM_ZERO),
    "WSS": Definition(screening.work_saved, Cutoff.LEVEL, bounds=(-1.0, 1.0)),
    "norm_area": Definition(screening.normalised_area, bounds=FROM_ZERO),
    "NCG": Definition(screening.cumulated_gain_at_share, Cutoff.LEVEL),
    "loss_e": Definition(screening.loss_of_effort, better=Better.LESS, bounds=FROM_ZERO),
    "loss_r": Definition(screening.loss_of_recall, better=Better.LESS),
    "loss_er": Definition(screening.loss, better=Better.LESS, bounds=FROM_ZERO),
}
# {lower-case name or alias: measure}.
NAMES = {written: name for name, definition in MEASURES.items() for written in (name.lower(), *definition.also_called)}
