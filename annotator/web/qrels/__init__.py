"""Pages of qrels."""

from annotator.web.qrels import qrels, shared_files

BLUEPRINTS = (qrels.blueprint, shared_files.blueprint)
