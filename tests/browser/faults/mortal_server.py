"""A server that can be killed without a word and started again on the same file and port."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from browser.faults.judge_tab import TALLY
from serving import Server, free_port, wait_until_it_answers

from annotator.settings import Settings


class MortalServer:
    """`annotator serve` as a process group of its own, so that `kill -9` reaches its workers, too."""

    def __init__(self, settings: Settings, log: Path) -> None:
        """Choose the port; `start` starts it."""
        self.settings = settings
        self.log = log
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where a browser finds it."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with self.log.open("ab") as said:
            self.process = subprocess.Popen(  # noqa: S603 - our own command
                [sys.executable, "-m", "annotator", "serve", "--port", str(self.port), "--workers", "1"],
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
            TALLY["servers killed"] += 1
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None
