"""Pages of runs."""

from annotator.web.runs import questionnaire, run_fetching, run_reviews, run_sources, runs, team_questions

BLUEPRINTS = (
    runs.blueprint,
    run_reviews.blueprint,
    run_fetching.blueprint,
    run_sources.blueprint,
    questionnaire.blueprint,
    team_questions.blueprint,
)
