"""Pages of qrels."""

from annotator.web.qrels import qrels

BLUEPRINTS = (qrels.blueprint,)
