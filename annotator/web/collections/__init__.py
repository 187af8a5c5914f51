"""Pages of collections."""

from annotator.web.collections import (
    announcements,
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
    announcements.blueprint,
    archives.blueprint,
    audit.blueprint,
    collection.blueprint,
    deletions.blueprint,
    guidelines.blueprint,
    queue_settings.blueprint,
    rounds.blueprint,
    webhooks.blueprint,
)
