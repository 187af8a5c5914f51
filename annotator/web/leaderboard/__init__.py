"""Pages of the leaderboard."""

from annotator.web.leaderboard import (
    correlation,
    costs,
    inspecting,
    leaderboard,
    leave_out,
    measures,
    quality,
    report,
    run,
    run_costs,
    significance,
    submissions,
)

BLUEPRINTS = (
    correlation.blueprint,
    costs.blueprint,
    inspecting.blueprint,
    leaderboard.blueprint,
    leave_out.blueprint,
    measures.blueprint,
    quality.blueprint,
    report.blueprint,
    run.blueprint,
    run_costs.blueprint,
    significance.blueprint,
    submissions.blueprint,
)
