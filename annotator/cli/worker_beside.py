"""A worker beside the pages: begun with them, begun again when it is lost, and ended with them."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS_TO_END = 10
SECONDS_BEFORE_AGAIN = 3.0


@contextmanager
def worker_beside() -> Iterator[None]:
    """Keep a worker running while the block lasts; it reads its settings from this process's environment."""
    beside = _Beside()
    keeping = threading.Thread(target=beside.keep, daemon=True)
    keeping.start()
    try:
        yield
    finally:
        beside.end()
        keeping.join()


class _Beside:
    """One worker at a time."""

    def __init__(self) -> None:
        self._ending = threading.Event()
        self._beginning = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def keep(self) -> None:
        """Begin a worker, and another when one ends that was not asked to."""
        while (process := self._begin()) is not None:
            process.wait()
            self._ending.wait(SECONDS_BEFORE_AGAIN)

    def end(self) -> None:
        """End the worker, which leaves what it has in hand to the next one."""
        with self._beginning:
            self._ending.set()
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _begin(self) -> subprocess.Popen[bytes] | None:
        with self._beginning:
            if self._ending.is_set():
                return None
            command = [sys.executable, "-m", "annotator", "worker", "--parent", str(os.getpid())]
            # In a session of its own Ctrl-C does not reach it, and it ends once, by `end`.
            self._process = subprocess.Popen(command, start_new_session=True)  # noqa: S603 - our own command
            return self._process
