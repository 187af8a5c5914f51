"""Pages of collections."""

from annotator.web.collections import (
    archives,
    audit,
    collection,
    deletions,
    guidelines,
    queue_settings,
    rounds,
    webhooks,
)

BLUEPRINTS = (
    archives.blueprint,
    audit.blueprint,
    collection.blueprint,
    deletions.blueprint,
    guidelines.blueprint,
    queue_settings.blueprint,
    rounds.blueprint,
    webhooks.blueprint,
)
