"""Pages of runs."""

from annotator.web.runs import questionnaire, run_fetching, run_reviews, runs

BLUEPRINTS = (runs.blueprint, run_reviews.blueprint, run_fetching.blueprint, questionnaire.blueprint)
