"""Pages of agreement."""

from annotator.web.agreement import adjudicating, agreement, disagreements, judges, machine_judging, review

BLUEPRINTS = (
    adjudicating.blueprint,
    adjudicating.protocol,
    agreement.blueprint,
    disagreements.blueprint,
    judges.blueprint,
    machine_judging.blueprint,
    review.blueprint,
)
