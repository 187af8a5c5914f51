"""Pages of agreement."""

from annotator.web.agreement import adjudicating, adjudicating_protocol, agreement, disagreements, judges

BLUEPRINTS = (
    adjudicating.blueprint,
    adjudicating_protocol.blueprint,
    agreement.blueprint,
    disagreements.blueprint,
    judges.blueprint,
)
