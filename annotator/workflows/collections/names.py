"""Finds topics, runs, people and documents of a collection by a part of their name."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session

from annotator.storage import IN_FORCE, Document, Membership, Run, Topic, User
from annotator.storage.collections.collection import find_collection

MOST_OF_A_KIND = 6
LAST = "\U0010ffff"  # sorts after every character of a docno


class NameKind(StrEnum):
    """What a name belongs to."""

    TOPIC = "topic"
    RUN = "run"
    PERSON = "person"
    DOCUMENT = "document"


@dataclass(frozen=True)
class FoundName:
    """A name that contains the searched text, with a second text that describes it."""

    kind: NameKind
    name: str
    about: str = ""


def find_names(session: Session, slug: str, text: str) -> list[FoundName]:
    """At most six names of each kind; documents by the beginning of their docno.

    Topics are found by number and title, active runs by tag, members by name. Names that begin with the text come
    first. Raises `NotFoundError` for an unknown collection.
    """
    wanted = text.strip()
    if not wanted:
        return []
    return list(_found(session, find_collection(session, slug).id, wanted))


def _found(session: Session, collection_id: int, text: str) -> Iterator[FoundName]:
    of_topic = or_(_has(Topic.number, text), _has(Topic.title, text))
    topics = select(Topic.number, Topic.title).where(Topic.collection_id == collection_id, of_topic)
    for number, title in session.execute(_first(topics, Topic.number, text)):
        yield FoundName(NameKind.TOPIC, number, title)
    runs = select(Run.tag).where(Run.collection_id == collection_id, IN_FORCE, _has(Run.tag, text))
    yield from (FoundName(NameKind.RUN, tag) for tag in session.scalars(_first(runs, Run.tag, text)))
    members = select(User.name).join(Membership, Membership.user_id == User.id).distinct()
    members = members.where(Membership.collection_id == collection_id, _has(User.name, text))
    for name in session.scalars(members.order_by(User.name).limit(MOST_OF_A_KIND)):
        yield FoundName(NameKind.PERSON, name)
    # A range of the index: a search within docnos would read all of them.
    documents = select(Document.docno, Document.title).where(
        Document.collection_id == collection_id, Document.docno >= text, Document.docno < text + LAST
    )
    for docno, title in session.execute(documents.order_by(Document.docno).limit(MOST_OF_A_KIND)):
        yield FoundName(NameKind.DOCUMENT, docno, title)


def _has(column: Any, text: str) -> ColumnElement[bool]:  # noqa: ANN401 - a mapped column of text
    return column.icontains(text, autoescape=True)  # type: ignore[no-any-return]  # as the column is not typed


def _first(
    rows: Select[*tuple[Any, ...]],
    column: Any,  # noqa: ANN401 - a mapped column of text
    text: str,
) -> Select[*tuple[Any, ...]]:
    """The first rows, those whose column begins with the text before the others, shorter ones before longer."""
    begins = column.istartswith(text, autoescape=True)
    return rows.order_by(begins.desc(), func.length(column), column).limit(MOST_OF_A_KIND)
