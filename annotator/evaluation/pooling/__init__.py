"""Pooling: which documents of the runs are to be judged, by every strategy of the field, and what a pool would cost.

`parse_strategy` reads a strategy; `topic_runs` takes one topic's runs in; the strategy then orders them, draws a sample
of them, or chooses document after document. `plan_depths` tells sizes beforehand and `simulate` what would have been
found.
"""

from annotator.evaluation.pooling.adaptive import Adaptive, Choice, Verdict, explain
from annotator.evaluation.pooling.budgets import shares, take_by_topic, take_in_total
from annotator.evaluation.pooling.depth import PooledTopic, depth_pool
from annotator.evaluation.pooling.max_mean import Update
from annotator.evaluation.pooling.parameters import PARAMETERS
from annotator.evaluation.pooling.planning import DepthPlan, plan_depths
from annotator.evaluation.pooling.simulating import simulate
from annotator.evaluation.pooling.strata import Band, Stratum, format_bands, parse_bands, stratified
from annotator.evaluation.pooling.strategies import STRATEGIES, Definition, Kind, Strategy, parse_strategy
from annotator.evaluation.pooling.topic_runs import Ties, TopicRuns, distinct, topic_runs

__all__ = [
    "PARAMETERS",
    "STRATEGIES",
    "Adaptive",
    "Band",
    "Choice",
    "Definition",
    "DepthPlan",
    "Kind",
    "PooledTopic",
    "Strategy",
    "Stratum",
    "Ties",
    "TopicRuns",
    "Update",
    "Verdict",
    "depth_pool",
    "distinct",
    "explain",
    "format_bands",
    "parse_bands",
    "parse_strategy",
    "plan_depths",
    "shares",
    "simulate",
    "stratified",
    "take_by_topic",
    "take_in_total",
    "topic_runs",
]
