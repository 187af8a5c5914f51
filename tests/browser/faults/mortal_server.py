"""A server that can be killed without a word and started again on the same file and port, and that is counted."""

from pathlib import Path

from browser.faults.judge_tab import TALLY
from faults import mortal_server

from annotator.settings import Settings


class MortalServer(mortal_server.MortalServer):
    """One process that answers, so that a test knows which one it kills."""

    def __init__(self, settings: Settings, log: Path) -> None:
        """Choose the port; `start` starts it."""
        super().__init__(settings, log, workers=1)

    def kill(self) -> None:
        """End all its processes at once, whatever they are doing."""
        TALLY["servers killed"] += self.process is not None
        super().kill()
