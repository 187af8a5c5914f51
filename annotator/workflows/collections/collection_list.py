"""Lists of collections: all of them, one page of those whose names contain a text, and names alone."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session

from annotator.storage import Collection, Membership
from annotator.storage.tables.collections import SHOWN
from annotator.workflows.collections.collection import CollectionView, views_of

ROWS_A_PAGE = 30


@dataclass(frozen=True)
class CollectionsPage:
    """One page of the matching collections by slug, and their total number."""

    collections: tuple[CollectionView, ...]
    total: int
    page: int
    pages: int


def list_collections(
    session: Session, visible_to: int | None = None, *, only_id: int | None = None
) -> list[CollectionView]:
    """All collections by slug, or those that the user with this id is a member of.

    `only_id` is the collection to which a token is restricted.
    """
    statement = _visible(visible_to)
    if only_id is not None:
        statement = statement.where(Collection.id == only_id)
    return views_of(session, session.scalars(statement).all())


def page_of_collections(
    session: Session, visible_to: int | None = None, text: str = "", page: int = 1
) -> CollectionsPage:
    """One page of the collections whose slug or title contains the text.

    `visible_to` as in `list_collections`. Pages count from 1, and a number out of range gives the nearest page.
    """
    found = _visible(visible_to).where(*_named(text))
    total = session.scalars(select(func.count()).select_from(found.order_by(None).subquery())).one()
    pages = max(1, -(-total // ROWS_A_PAGE))
    page = min(max(page, 1), pages)
    shown = session.scalars(found.offset((page - 1) * ROWS_A_PAGE).limit(ROWS_A_PAGE)).all()
    return CollectionsPage(tuple(views_of(session, shown)), total, page, pages)


def collection_names(session: Session, visible_to: int | None = None, *, most: int) -> list[tuple[str, str]]:
    """Slug and title of the first collections by slug; `visible_to` as in `list_collections`."""
    names = _visible(visible_to).with_only_columns(Collection.slug, Collection.title).limit(most)
    return [(slug, title) for slug, title in session.execute(names)]


def _visible(visible_to: int | None) -> Select[Collection]:
    statement = select(Collection).where(SHOWN).order_by(Collection.slug)
    if visible_to is None:
        return statement
    member = select(Membership.collection_id).where(Membership.user_id == visible_to)
    return statement.where(Collection.id.in_(member))


def _named(text: str) -> list[ColumnElement[bool]]:
    if not text:
        return []
    return [or_(*(column.icontains(text, autoescape=True) for column in (Collection.slug, Collection.title)))]
