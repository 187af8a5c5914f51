"""Pages of qrels."""

from annotator.web.qrels import qrels, qrels_versions

BLUEPRINTS = (
    qrels.blueprint,
    qrels_versions.blueprint,
)
