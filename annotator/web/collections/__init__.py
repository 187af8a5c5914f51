"""Pages of collections."""

from annotator.web.collections import audit, collection, deletions, guidelines, queue_settings, rounds

BLUEPRINTS = (
    audit.blueprint,
    collection.blueprint,
    deletions.blueprint,
    guidelines.blueprint,
    queue_settings.blueprint,
    rounds.blueprint,
)
