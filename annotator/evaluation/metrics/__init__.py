"""Measures: functions from a batch of judged rankings to one value a ranking.

For programs: `evaluate` scores runs against qrels, from files, from dicts or from arrays; `score_runs` scores ranked
lists of document numbers from the database; `parse_measures` reads names such as `nDCG@10`.
"""

from annotator.evaluation.metrics.evaluating import Evaluation, evaluate
from annotator.evaluation.metrics.measures import MEASURES, Measure
from annotator.evaluation.metrics.names import parse_measure, parse_measures
from annotator.evaluation.metrics.scoring import Scores, score, score_runs
from annotator.evaluation.metrics.setting import Compat

__all__ = [
    "MEASURES",
    "Compat",
    "Evaluation",
    "Measure",
    "Scores",
    "evaluate",
    "parse_measure",
    "parse_measures",
    "score",
    "score_runs",
]
