"""Adaptive pools for judging pages: choosing documents when few are left, and counting those to come."""

from collections.abc import Mapping

from annotator.web.site.context import database, now
from annotator.web.site.memories import adaptive_memory
from annotator.workflows.pools import pool_selection


def choose_if_few(slug: str, number: str, judge_id: int) -> bool:
    """Choose further documents of a topic when few are left for this judge; return whether there were candidates.

    Documents are chosen in a read transaction, which may take a while, and added in a short transaction of their own,
    so that judges who draw documents do not wait.
    """
    chosen = database().read(pool_selection.choose_next, slug, number, judge_id, memory=adaptive_memory())
    if chosen is not None:
        with database().transaction() as session:
            pool_selection.add_choices(session, slug, chosen, at=now())
    return chosen is not None


def choices_to_come(slug: str, judge_id: int | None = None) -> Mapping[str, int]:
    """The number of documents still to be chosen by topic; with a judge, those that the judge could draw."""
    return database().read(pool_selection.choices_left, slug, memory=adaptive_memory(), judge_id=judge_id)
