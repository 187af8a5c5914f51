"""Pages of runs."""

from annotator.web.runs import questionnaire, run_fetching, run_reviews, run_sources, runs, tasks, team_questions

BLUEPRINTS = (
    runs.blueprint,
    run_reviews.blueprint,
    run_fetching.blueprint,
    run_sources.blueprint,
    tasks.blueprint,
    questionnaire.blueprint,
    team_questions.blueprint,
)
