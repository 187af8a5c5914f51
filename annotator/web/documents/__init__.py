"""Pages of documents."""

from annotator.web.documents import docno_lists, documents, search

BLUEPRINTS = (
    documents.blueprint,
    docno_lists.blueprint,
    search.blueprint,
)
