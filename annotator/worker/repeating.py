"""A thread of the worker that repeats a small piece of work beside the jobs."""

import logging
import threading
import time
from collections.abc import Callable

from sqlalchemy.exc import DBAPIError

from annotator.errors import BusyError

SECONDS_AFTER_TROUBLE = 5.0
SECONDS_TO_END = 2.0
LOG = logging.getLogger("annotator.worker")


class Repeating:
    """Repeats `step`, with a pause of at least `seconds` and of `share` times its own duration.

    Errors are logged, and the work goes on later.
    """

    def __init__(self, name: str, step: Callable[[], object], *, seconds: float, share: float = 0.0) -> None:
        """Prepare the thread; `name` is what the log calls the work."""
        self._name, self._step = name, step
        self._seconds, self._share = seconds, share
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name=name)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Begin no further step, and wait a moment for the one at hand; the process's end rolls it back otherwise."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(SECONDS_TO_END)

    def _run(self) -> None:
        while not self._ended.is_set():
            began = time.monotonic()
            pause = self._seconds
            try:
                self._step()
            except (BusyError, DBAPIError) as trouble:
                # Without the statement, whose values may be secrets.
                LOG.error("%s: the database cannot be used: %s", self._name, getattr(trouble, "orig", trouble))  # noqa: TRY400
                pause = SECONDS_AFTER_TROUBLE
            except Exception:
                LOG.exception("%s: failed.", self._name)
                pause = SECONDS_AFTER_TROUBLE
            self._ended.wait(max(pause, self._share * (time.monotonic() - began)))
