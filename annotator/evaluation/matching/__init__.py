"""Matches runs with qrels, from lists or files to the retrieved documents that the qrels list: where to begin."""

from annotator.evaluation.matching.files import match_lists as match_lists
from annotator.evaluation.matching.files import match_parsed as match_parsed
from annotator.evaluation.matching.files import match_run as match_run
from annotator.evaluation.matching.files import match_runs as match_runs
from annotator.evaluation.matching.index import QrelsIndex as QrelsIndex
