"""Pages of runs."""

from annotator.web.runs import runs

BLUEPRINTS = (runs.blueprint,)
