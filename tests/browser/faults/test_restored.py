"""A backup is restored beneath open tabs: no grade goes to another document, and what is lost is sent again."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.faults.collection import OTHER_DOCNOS, OTHER_TOPIC, TOPIC, two_topics
from browser.faults.judge_tab import JudgeTab
from browser.faults.ledger import decisions_now
from browser.faults.mortal_server import MortalServer
from browser.pages import eventually
from build import NOW, SECRET_KEY
from playwright.sync_api import BrowserContext, expect

from annotator.settings import Settings, sqlite_url
from annotator.storage import Database
from annotator.storage.site.backups import back_up, restore


@pytest.fixture
def judged(sqlite_template: Path, tmp_path: Path) -> Iterator[Database]:
    """The collection of two topics in a file that no other server has open."""
    path = tmp_path / "judged.sqlite"
    shutil.copy(sqlite_template, path)
    database = Database(sqlite_url(path))
    two_topics(database)
    yield database
    database.close()


@pytest.fixture
def mortal(judged: Database, tmp_path: Path) -> Iterator[MortalServer]:
    """A server over it, whose database a test may restore."""
    url = str(judged.engine.url)
    server = MortalServer(Settings(secret_key=SECRET_KEY, database_url=url), tmp_path / "server.log")
    server.start()
    yield server
    server.kill()


def restore_beneath(mortal: MortalServer, database: Database, backup: Path) -> None:
    """What `annotator database restore --replace` does while the server is down."""
    mortal.kill()
    database.close()
    restore(Database(mortal.settings.database_url), backup, replace=True, now=NOW)
    mortal.start()


def test_after_a_restore_grades_stay_on_their_documents_and_lost_ones_are_sent_again(
    context: BrowserContext, mortal: MortalServer, judged: Database, tmp_path: Path
) -> None:
    backup = tmp_path / "backup.sqlite"
    back_up(judged, backup)
    tab = JudgeTab.sign_in(context, mortal.address)
    tab.say("1", "2")
    tab.is_saved()
    restore_beneath(mortal, judged, backup)
    # The assignments that the first tab holds are of documents of the other topic now.
    other = JudgeTab.open(context, mortal.address, path=OTHER_TOPIC)
    assert other.docno in OTHER_DOCNOS
    tab.page.bring_to_front()
    tab.say("0")
    expect(tab.page.locator("#restored")).to_be_visible()
    expected = {press.docno: press.said for press in tab.pressed}
    database = Database(mortal.settings.database_url)
    assert expected.items() >= decisions_now(database).items()
    tab.page.goto(f"{mortal.address}{TOPIC}")
    tab.page.locator("#lost-send").click()
    eventually(tab.page, lambda: decisions_now(database) == expected)
    tab.is_saved()
    expect(tab.page.locator("#refused-open")).to_be_hidden()
    database.close()
