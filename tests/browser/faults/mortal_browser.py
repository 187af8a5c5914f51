"""A browser that can be killed without a word, and started again with what it had written down."""

import os
import signal
import subprocess
import time
from pathlib import Path

from browser.faults.judge_tab import TALLY
from browser.pages import PATIENCE
from playwright.sync_api import BrowserContext, Playwright

SECONDS_TO_START = 60


class MortalBrowser:
    """Chromium as a process group of its own, with a profile that outlives it."""

    def __init__(self, playwright: Playwright, command: list[str], profile: Path) -> None:
        """`start` starts it."""
        self.playwright = playwright
        self.command = [*command, "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={profile}"]
        self.port_file = profile / "DevToolsActivePort"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> BrowserContext:
        """Start it, and take hold of its windows."""
        self.port_file.unlink(missing_ok=True)
        self.process = subprocess.Popen(  # noqa: S603 - the browser of all these tests
            [*self.command, "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        # Of its end Playwright learns by itself; to close what is dead may take for ever.
        context = self.playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{self._port()}").contexts[0]
        context.set_default_timeout(PATIENCE)
        return context

    def kill(self) -> None:
        """End all its processes at once, whatever they are doing."""
        if self.process is not None:
            TALLY["browsers killed"] += 1
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def _port(self) -> int:
        """The port that it tells in a file of its profile."""
        end = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < end:
            words = self.port_file.read_text().split() if self.port_file.exists() else []
            if len(words) > 1:
                return int(words[0])
            time.sleep(0.02)
        raise AssertionError("the browser does not start")
