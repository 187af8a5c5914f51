"""Pages of topics."""

from annotator.web.topics import topic, topic_flags, topics

BLUEPRINTS = (
    topic.blueprint,
    topic_flags.blueprint,
    topics.blueprint,
)
