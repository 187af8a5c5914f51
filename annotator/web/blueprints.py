"""Every blueprint, in the order of the menu."""

from annotator.web import (
    accounts,
    agreement,
    collection,
    documents,
    guidelines,
    judgements,
    judging,
    language,
    leaderboard,
    measures,
    members,
    people,
    pools,
    qrels,
    runs,
    topics,
)

BLUEPRINTS = (
    accounts.blueprint,
    people.blueprint,
    language.blueprint,
    collection.blueprint,
    members.blueprint,
    guidelines.blueprint,
    topics.blueprint,
    documents.blueprint,
    runs.blueprint,
    pools.blueprint,
    judgements.blueprint,
    agreement.blueprint,
    qrels.blueprint,
    leaderboard.blueprint,
    measures.blueprint,
    judging.blueprint,
)
