"""Pages of judging."""

from annotator.web.judging import (
    beside,
    clarifications,
    gold_questions,
    judge_desk,
    judge_history,
    judgements,
    judging,
    judging_protocol,
    questions,
    searching,
    taking_along,
    topic_owners,
    training,
    training_screen,
)

BLUEPRINTS = (
    beside.blueprint,
    clarifications.blueprint,
    gold_questions.blueprint,
    judge_desk.blueprint,
    judge_history.blueprint,
    judgements.blueprint,
    judging.blueprint,
    judging_protocol.blueprint,
    questions.blueprint,
    searching.blueprint,
    taking_along.blueprint,
    taking_along.protocol,
    topic_owners.blueprint,
    training.blueprint,
    training_screen.blueprint,
)
