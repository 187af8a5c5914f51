"""Pages of agreement."""

from annotator.web.agreement import adjudicating, agreement, disagreements, judges

BLUEPRINTS = (
    adjudicating.blueprint,
    adjudicating.protocol,
    agreement.blueprint,
    disagreements.blueprint,
    judges.blueprint,
)
