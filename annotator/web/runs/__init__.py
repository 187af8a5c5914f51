"""Pages of runs."""

from annotator.web.runs import questionnaire, run_fetching, run_reviews, run_sources, runs

BLUEPRINTS = (
    runs.blueprint,
    run_reviews.blueprint,
    run_fetching.blueprint,
    run_sources.blueprint,
    questionnaire.blueprint,
)
