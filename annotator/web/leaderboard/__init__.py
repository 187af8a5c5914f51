"""Pages of the leaderboard."""

from annotator.web.leaderboard import (
    costs,
    estimates,
    files,
    first_steps,
    inspecting,
    leaderboard,
    quality,
    releases,
    run,
    significance,
    submissions,
)

BLUEPRINTS = (
    costs.blueprint,
    estimates.blueprint,
    files.blueprint,
    first_steps.blueprint,
    inspecting.blueprint,
    leaderboard.blueprint,
    quality.blueprint,
    releases.blueprint,
    run.blueprint,
    significance.blueprint,
    submissions.blueprint,
)
