"""Pages of judging."""

from annotator.web.judging import (
    gold_questions,
    judge_desk,
    judge_history,
    judgements,
    judging,
    judging_protocol,
    questions,
    topic_owners,
    training,
)

BLUEPRINTS = (
    gold_questions.blueprint,
    judge_desk.blueprint,
    judge_history.blueprint,
    judgements.blueprint,
    judging.blueprint,
    judging_protocol.blueprint,
    questions.blueprint,
    topic_owners.blueprint,
    training.blueprint,
)
