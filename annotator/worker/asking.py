"""Runs the machine judges: asks models about documents, some at a time."""

import threading
import time
from contextlib import suppress

from annotator.errors import ConflictError, NotFoundError
from annotator.storage import Database
from annotator.workflows.agreement import machine_running
from annotator.workflows.agreement.model_requests import ModelAccess

SECONDS_OF_A_STEP = 5.0


class Asking:
    """Goes on with the runs that are due, a part of one after the other."""

    def __init__(self, database: Database, access: ModelAccess) -> None:
        """Take the database and where the server may send."""
        self._database = database
        self._access = access
        self._ending = threading.Event()

    def step(self) -> bool:
        """Run parts for a while; False when none was due."""
        began = time.monotonic()
        has_run = False
        while not self._ending.is_set() and time.monotonic() < began + SECONDS_OF_A_STEP and self._run_one():
            has_run = True
        return has_run

    def end(self) -> None:
        """Send no further request; what is on its way is still kept if it comes before the process ends."""
        self._ending.set()

    def _run_one(self) -> bool:
        now = machine_running.now
        with self._database.reading() as session:
            if not machine_running.has_due(session, now=now()):
                return False
        with self._database.transaction() as session:
            run = machine_running.take_run(session, now=now())
        if run is None:
            return False
        # Closed or deleted meanwhile: then nothing is settled.
        with suppress(ConflictError, NotFoundError):
            machine_running.run_part(self._database, run, self._access, self._ending, now)
        return True
