"""The judged site, and a server over it that may be killed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from faults.judged_site import judged_site
from faults.mortal_server import MortalServer

from annotator.settings import Settings


@pytest.fixture
def site(tmp_path: Path) -> Settings:
    """The settings of the judged site, in a file of its own."""
    return judged_site(tmp_path / "site.sqlite")


@pytest.fixture
def mortal(site: Settings, tmp_path: Path) -> Iterator[MortalServer]:
    """A server over the site."""
    server = MortalServer(site, tmp_path / "server.log")
    try:
        server.start()
        yield server
    finally:
        server.kill()
