"""A process that hangs or dies is replaced, however often, and judges go on with the others meanwhile."""

import os
import signal
import time
from pathlib import Path

from faults.judged_site import is_in_order
from faults.length import times
from faults.mortal_server import MortalServer
from faults.scripted_judge import all_acknowledged, judges_at_work, wait_for_work

FREEZES = times(1, 10)
DEATHS = times(4, 40)
SECONDS_TO_REPLACE = 60


def processes(mortal: MortalServer) -> set[int]:
    """The processes that answer: those whose parent is the server."""
    assert mortal.process is not None
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        if int(fields[1]) == mortal.process.pid:
            found.add(int(status.parent.name))
    return found


def wait_until_replaced(mortal: MortalServer, lost: int) -> None:
    end = time.monotonic() + SECONDS_TO_REPLACE
    while lost in (present := processes(mortal)) or len(present) < mortal.workers:
        assert time.monotonic() < end, (lost, present)
        time.sleep(0.05)


def test_judges_go_on_while_a_process_is_frozen_and_it_is_replaced(mortal: MortalServer) -> None:
    judges = judges_at_work(mortal.port)
    for _ in range(FREEZES):
        frozen = max(processes(mortal))
        os.kill(frozen, signal.SIGSTOP)
        wait_for_work(judges, [len(judge.acknowledged) for judge in judges])
        wait_until_replaced(mortal, frozen)
    acknowledged = all_acknowledged(judges)
    assert "does not answer any more and is replaced" in mortal.log.read_text()
    mortal.kill()
    is_in_order(mortal.settings, acknowledged)


def test_processes_that_die_again_and_again_end_no_server(mortal: MortalServer) -> None:
    judges = judges_at_work(mortal.port)
    for _ in range(DEATHS):
        dead = max(processes(mortal))
        os.kill(dead, signal.SIGKILL)
        wait_for_work(judges, [len(judge.acknowledged) for judge in judges])
        wait_until_replaced(mortal, dead)
    acknowledged = all_acknowledged(judges)
    assert mortal.process is not None
    assert mortal.process.poll() is None
    assert mortal.log.read_text().count("ended (signal 9) and is replaced") == DEATHS
    mortal.kill()
    is_in_order(mortal.settings, acknowledged)
