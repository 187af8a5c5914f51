"""Adaptive pools as the pages of judges meet them: documents are chosen when few are left, and those to come count."""

from collections.abc import Mapping

from annotator.web.site.context import database, now
from annotator.web.site.memories import adaptive_memory
from annotator.workflows.pools import pool_selection


def choose_if_few(slug: str, number: str, judge_id: int) -> bool:
    """Have documents of a topic chosen when few are left for this judge; whether there was anything to choose.

    It chooses in a reading of its own, since that may take a while, and adds them in a transaction of its own, since
    nobody who draws shall wait for that.
    """
    chosen = database().read(pool_selection.choose_next, slug, number, judge_id, memory=adaptive_memory())
    if chosen is not None:
        with database().transaction() as session:
            pool_selection.add_choices(session, slug, chosen, at=now())
    return chosen is not None


def choices_to_come(slug: str, judge_id: int | None = None) -> Mapping[str, int]:
    """How many documents will still be chosen of each topic, by its number; with a judge, for them to draw."""
    return database().read(pool_selection.choices_left, slug, memory=adaptive_memory(), judge_id=judge_id)
