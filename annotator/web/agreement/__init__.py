"""Pages of agreement."""

from annotator.web.agreement import (
    adjudicating,
    adjudicating_protocol,
    adjudication,
    agreement,
    disagreements,
    judge_effect,
    judge_hours,
    judge_quality,
    machine_judges,
)

BLUEPRINTS = (
    adjudicating.blueprint,
    adjudicating_protocol.blueprint,
    adjudication.blueprint,
    agreement.blueprint,
    disagreements.blueprint,
    judge_effect.blueprint,
    judge_hours.blueprint,
    judge_quality.blueprint,
    machine_judges.blueprint,
)
