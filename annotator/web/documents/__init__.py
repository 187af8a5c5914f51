"""Pages of documents."""

from annotator.web.documents import documents, search

BLUEPRINTS = (
    documents.blueprint,
    search.blueprint,
)
