"""The workers beside the pages: begun with them, each begun again when it is lost, and ended with them."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

SECONDS_TO_END = 10
SECONDS_BEFORE_AGAIN = 3.0
# The options of each: one takes any job, the other only short ones, which so do not wait while a long one runs.
WORKERS: Final = ((), ("--short",))


@contextmanager
def workers_beside() -> Iterator[None]:
    """Keep the workers running while the block lasts; they read their settings from this process's environment."""
    all_beside = [_Beside(options) for options in WORKERS]
    keeping = [threading.Thread(target=beside.keep, daemon=True) for beside in all_beside]
    for thread in keeping:
        thread.start()
    try:
        yield
    finally:
        for beside in all_beside:
            beside.ask_to_end()
        for beside in all_beside:
            beside.wait()
        for thread in keeping:
            thread.join()


class _Beside:
    """One worker at a time."""

    def __init__(self, options: Sequence[str]) -> None:
        self._options = options
        self._ending = threading.Event()
        self._beginning = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def keep(self) -> None:
        """Begin a worker, and another when one ends that was not asked to."""
        while (process := self._begin()) is not None:
            process.wait()
            self._ending.wait(SECONDS_BEFORE_AGAIN)

    def ask_to_end(self) -> None:
        """Tell the worker to end, which leaves what it has in hand to the next one; none is begun any more."""
        with self._beginning:
            self._ending.set()
        if self._process is not None:
            self._process.terminate()

    def wait(self) -> None:
        """Wait until the worker has ended, for a while; then kill it."""
        if self._process is None:
            return
        try:
            self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _begin(self) -> subprocess.Popen[bytes] | None:
        with self._beginning:
            if self._ending.is_set():
                return None
            command = [sys.executable, "-m", "annotator", "worker", "--parent", str(os.getpid()), *self._options]
            # In a session of its own Ctrl-C does not reach it, and it ends once, by `end`.
            self._process = subprocess.Popen(command, start_new_session=True)  # noqa: S603 - our own command
            return self._process
