"""Pages of documents."""

from annotator.web.documents import changed_documents, documents, near_duplicates, search

BLUEPRINTS = (
    changed_documents.blueprint,
    documents.blueprint,
    near_duplicates.blueprint,
    search.blueprint,
)
