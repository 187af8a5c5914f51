"""Pages of topics."""

from annotator.web.topics import topic, topics

BLUEPRINTS = (
    topic.blueprint,
    topics.blueprint,
)
