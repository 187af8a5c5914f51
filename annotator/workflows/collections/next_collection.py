"""Copying a collection's settings: scale, guidelines and, optionally, documents."""

from datetime import datetime

from sqlalchemy import insert, literal, select
from sqlalchemy.orm import Session

from annotator.evaluation.search.search_text import indexed_words
from annotator.storage import Collection, Document, Grade, GuidelineVersion, Role
from annotator.storage.collections.collection import (
    find_collection,
    latest_guidelines,
    refuse_unusable_slug,
    scale_of,
)
from annotator.storage.documents.docno_lists import copy_list
from annotator.storage.documents.documents import ROWS_AT_ONCE
from annotator.storage.documents.search import index_documents
from annotator.storage.documents.sources import copy_source
from annotator.storage.runs.questionnaires import newest_of_tasks, newest_questionnaire
from annotator.storage.runs.runs import columns_of
from annotator.storage.runs.tasks import copy_tasks
from annotator.storage.tables.documents import DOCUMENTS
from annotator.storage.tables.runs import FactColumn, QuestionnaireVersion
from annotator.workflows.people.members import add_member

# Settings that are copied; state, deadline, release, what is shared after it, and pass mark are reset.
KEPT = (
    "title",
    "kind",
    "relevant_from",
    "judgements_wanted",
    "consensus_policy",
    "terms",
    "scores_shown",
    "most_documents",
    "tag_start",
    "most_tag_characters",
    "plain_tags",
    "most_runs",
    "corpus",
    "shares_docnos",
    "judges_search",
    "judges_compare",
    "judges_highlight",
    "judging_mode",
    "overlap_share",
    "reshow_share",
    "common_items",
    "counts_machines",
    "shows_grades",
    "leaves_out_disputed",
    "pay_per_hour",
    "pay_currency",
)
ASKED = ("key", "name", "kind", "unit", "better")  # the fields of a cost question
TEXTS = ("docno", "title", "body", "url", "language", "text_hash")


def copy_collection(
    session: Session,
    slug: str,
    new_slug: str,
    *,
    title: str | None,
    with_documents: bool,
    organiser: str | None = None,
    at: datetime,
) -> int:
    """Create a collection with the settings of another, without topics, runs and people; returns documents copied.

    A task that does not have every topic has none in the copy.

    Raises `NotFoundError` for an unknown collection or organiser, and `InvalidValueError` and `ConflictError` for an
    invalid or used short name.
    """
    old = find_collection(session, slug)
    refuse_unusable_slug(session, new_slug)
    new = Collection(slug=new_slug, added_at=at, **{name: getattr(old, name) for name in KEPT})
    new.title = (title or "").strip() or old.title
    session.add(new)
    session.flush()
    for grade in scale_of(session, old.id):
        session.add(Grade(collection_id=new.id, value=grade.value, name=grade.name, description=grade.description))
    guidelines = latest_guidelines(session, old.id)
    if guidelines is not None:
        session.add(GuidelineVersion(collection_id=new.id, number=1, text=guidelines.text, made_at=at))
    for column in columns_of(session, old.id):
        asked = {name: getattr(column, name) for name in ASKED}
        session.add(FactColumn(collection_id=new.id, added_at=at, **asked))
    questionnaire = newest_questionnaire(session, old.id)
    if questionnaire is not None and questionnaire.questions:
        session.add(QuestionnaireVersion(collection_id=new.id, number=1, questions=questionnaire.questions, made_at=at))
    copied_tasks = copy_tasks(session, old.id, new.id, at=at)
    for number, version in enumerate(newest_of_tasks(session, old.id), start=2):
        own = QuestionnaireVersion(collection_id=new.id, number=number, questions=version.questions, made_at=at)
        own.task_id = copied_tasks[version.task_id or 0]
        session.add(own)
    session.flush()
    copied = _copy_documents(session, old.id, new.id, at) if with_documents else 0
    if organiser is not None:
        add_member(session, new_slug, organiser, Role.ORGANISER, added_at=at)
    return copied


def _copy_documents(session: Session, old_id: int, new_id: int, at: datetime) -> int:
    """Copy the documents that have a text, their source, and the list of valid docnos.

    Documents only named by runs are added when runs arrive.
    """
    copy_list(session, old_id, new_id)
    copy_source(session, old_id, new_id, at=at)
    columns = [DOCUMENTS.c[name] for name in TEXTS]
    having = select(literal(new_id), *columns).where(DOCUMENTS.c.collection_id == old_id, DOCUMENTS.c.body.is_not(None))
    session.execute(insert(DOCUMENTS).from_select(["collection_id", *TEXTS], having.order_by(DOCUMENTS.c.id)))
    copied = session.execute(
        select(Document.id, Document.title, Document.body)
        .where(Document.collection_id == new_id)
        .order_by(Document.id)
        .execution_options(yield_per=ROWS_AT_ONCE)
    )
    return index_documents(session, ((id_, indexed_words(title, body or "")) for id_, title, body in copied))
