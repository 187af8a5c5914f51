"""A server that can be killed without a word and started again on the same database and port."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from serving import Server, free_port, wait_until_it_answers

from annotator.settings import Settings


class MortalServer:
    """`annotator serve` as a process group of its own, so that `kill -9` reaches all its processes."""

    def __init__(self, settings: Settings, log: Path, *, workers: int = 2) -> None:
        """Choose the port; `start` starts it."""
        self.settings = settings
        self.log = log
        self.workers = workers
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where a browser finds it."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        words = ["serve", "--no-worker", "--port", str(self.port), "--workers", str(self.workers)]
        with self.log.open("ab") as said:
            self.process = subprocess.Popen(  # noqa: S603 - our own command
                [sys.executable, "-m", "annotator", *words],
                env={**os.environ, **self.settings.to_environment()},
                cwd=self.log.parent,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        wait_until_it_answers(Server(self.port, self.process, self.log))

    def kill(self) -> None:
        """End all its processes at once, whatever they are doing."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None
