"""Pages of agreement."""

from annotator.web.agreement import adjudicating, agreement, disagreements, judges, review

BLUEPRINTS = (
    adjudicating.blueprint,
    adjudicating.protocol,
    agreement.blueprint,
    disagreements.blueprint,
    judges.blueprint,
    review.blueprint,
)
