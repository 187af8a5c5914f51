"""The measures of a page of scores: those that are ticked, and those that are typed."""

import re

from flask import request

from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.workflows.leaderboard.leaderboard import split_names

# Splits at blanks outside brackets that do not adjoin a comma; `split_names` splits at commas.
NAMES = re.compile(r"(?:[^\s(]|\([^)]*\)?)+")
COMMA = re.compile(r"\s*,\s*")


def measures_wanted() -> tuple[str, ...]:
    """The ticked (`?m=AP&m=P@5`) and the typed (`&other=`) measures without duplicates; without any, the usual ones."""
    other = COMMA.sub(",", request.args.get("other", "").strip(", "))
    written = [name for names in NAMES.findall(other) for name in split_names(names)]
    return tuple(dict.fromkeys([*request.args.getlist("m"), *written])) or DEFAULT_MEASURES
