"""Pages of the leaderboard."""

from annotator.web.leaderboard import (
    costs,
    estimates,
    files,
    first_steps,
    inspecting,
    leaderboard,
    own_pair,
    public_pages,
    quality,
    release_kit,
    releases,
    run,
    significance,
    source_scores,
    submissions,
)

BLUEPRINTS = (
    costs.blueprint,
    estimates.blueprint,
    files.blueprint,
    first_steps.blueprint,
    inspecting.blueprint,
    leaderboard.blueprint,
    own_pair.blueprint,
    public_pages.blueprint,
    quality.blueprint,
    release_kit.blueprint,
    releases.blueprint,
    run.blueprint,
    significance.blueprint,
    source_scores.blueprint,
    submissions.blueprint,
)
