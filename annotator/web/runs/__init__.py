"""Pages of runs."""

from annotator.web.runs import run_reviews, runs

BLUEPRINTS = (runs.blueprint, run_reviews.blueprint)
