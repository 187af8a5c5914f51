"""What is public of the collections, kept for all readers: a crowd of them computes nothing.

The scores of a collection are kept with what they were made from, and one reader at a time computes them.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from annotator.errors import BusyError
from annotator.evaluation.publishing.public_board import PublicTask
from annotator.reporting.public_pages import PageLinks, public_page, zipped_site
from annotator.storage import Database
from annotator.web.site.context import database, now
from annotator.web.site.memories import MemoryOfDatabase
from annotator.workflows.leaderboard.public_scores import PublicState, public_state, public_task

MOST_TASKS = 16  # collections whose scores are kept
MOST_PAGES = 128  # rendered pages, of all collections

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True)
class KeptTask:
    """What is public of a collection, what it was made from, and the state of the site at the last comparison."""

    site: Hashable
    state: PublicState
    task: PublicTask


class PublicMemory:
    """The public tasks of one database and their pages, the most recently used."""

    def __init__(self) -> None:
        """Create an empty memory."""
        self._lock = threading.Lock()
        self.computing = threading.Lock()
        self._tasks: OrderedDict[str, KeptTask] = OrderedDict()
        self._pages: OrderedDict[Hashable, bytes] = OrderedDict()

    def find(self, given: Database, slug: str, *, at: datetime) -> KeptTask:
        """What is public of a collection now.

        Raises as `public_state` and `public_task`, and `BusyError` while another reader computes scores.
        """
        site = given.state()
        with self._lock:
            kept = self._tasks.get(slug)
        # If nothing at all was stored since, the collection need not be read.
        if kept is None or site is None or kept.site != site or not kept.state.holds_at(at):
            with given.reading() as session:
                state = public_state(session, slug, at=at)
                if kept is not None and kept.state == state:
                    kept = replace(kept, site=site)
                elif self.computing.acquire(blocking=False):
                    try:
                        kept = KeptTask(site, state, public_task(session, state))
                    finally:
                        self.computing.release()
                else:
                    raise BusyError("The scores are being computed. Try again in a few seconds.")
        with self._lock:
            _keep(self._tasks, slug, kept, MOST_TASKS)
        return kept

    def page(
        self, kept: KeptTask, links: PageLinks, *, language: str, order: str | None, part: str | None = None
    ) -> bytes:
        """A page of the task, or of one of several, by its key, rendered once."""
        # With a chosen language the links differ.
        key = (kept.state, language, order, part, links.task, links.style)
        with self._lock:
            page = self._pages.get(key)
        if page is None:
            page = public_page(kept.task.with_board_of(part), links, language=language, order=order)
        with self._lock:
            _keep(self._pages, key, page, MOST_PAGES)
        return page


def _keep(memory: OrderedDict[Key, Value], key: Key, value: Value, most: int) -> None:
    memory[key] = value
    memory.move_to_end(key)
    while len(memory) > most:
        memory.popitem(last=False)


public_memory = MemoryOfDatabase(PublicMemory)


def exported_pages(slug: str) -> bytes:
    """The public pages as files in a zip file, which any web server can serve."""
    return zipped_site(public_memory().find(database(), slug, at=now()).task, f"{slug}-pages")
