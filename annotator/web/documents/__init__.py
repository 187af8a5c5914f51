"""Pages of documents."""

from annotator.web.documents import docno_lists, documents, search, sources

BLUEPRINTS = (
    documents.blueprint,
    docno_lists.blueprint,
    sources.blueprint,
    search.blueprint,
)
