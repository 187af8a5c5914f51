"""What the worker repeats beside its jobs: it goes on after errors, without their values in the log, and stops."""

import logging
import threading
from collections.abc import Iterator

import pytest
from sqlalchemy.exc import OperationalError

from annotator.errors import BusyError
from annotator.worker import repeating
from annotator.worker.repeating import Repeating

SECRET = "ann_of_somebody"
TROUBLES = {
    "busy": BusyError("The database is busy."),
    "database": OperationalError("SELECT 1", {"token": SECRET}, Exception("the disk is full")),
    "fault": ZeroDivisionError(),
}


@pytest.fixture
def beginning() -> Iterator[list[Repeating]]:
    """Threads that the test begins, which are stopped at its end."""
    begun: list[Repeating] = []
    yield begun
    for one in begun:
        one.stop()


@pytest.mark.parametrize("trouble", TROUBLES)
def test_after_trouble_the_work_goes_on(
    trouble: str, beginning: list[Repeating], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeating, "SECONDS_AFTER_TROUBLE", 0.0)
    results = iter([TROUBLES[trouble], None, None])
    has_gone_on = threading.Event()

    def step() -> None:
        result = next(results, None)
        if result is not None:
            raise result
        has_gone_on.set()

    beginning.append(Repeating("Counts of topics", step, seconds=0.0))
    with caplog.at_level(logging.ERROR, logger="annotator.worker"):
        beginning[0].start()
        assert has_gone_on.wait(60)
    assert "Counts of topics" in caplog.text
    assert SECRET not in caplog.text


def test_one_that_was_stopped_has_ended(beginning: list[Repeating]) -> None:
    has_begun = threading.Event()
    beginning.append(Repeating("Webhooks", has_begun.set, seconds=0.0))
    beginning[0].start()
    assert has_begun.wait(60)
    beginning[0].stop()
    has_begun.clear()
    assert not has_begun.wait(0.2)


def test_one_that_never_began_can_be_stopped() -> None:
    Repeating("Webhooks", lambda: None, seconds=0.0).stop()
