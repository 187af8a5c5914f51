"""Server processes: forked from a parent with everything loaded, watched, and replaced when they end or hang.

They share a listening socket, so that a hanging process accepts no further connections. Each reports two heartbeats:
a thread beats while the process runs at all, the event loop at each turn. All modules are imported once, before the
first fork.
"""

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from mmap import mmap
from struct import Struct

from annotator.errors import AnnotatorError

SECONDS_BETWEEN_LOOKS = 0.25
SECONDS_BETWEEN_BEATS = 0.5
# A running process beats within a second even on a busy machine; a stopped or swapped-out one does not.
SECONDS_WITHOUT_A_BEAT = 3.0
# The event loop does not turn while it answers one request, or reads a large amount at once.
SECONDS_WITHOUT_A_TURN = 60.0
SECONDS_TO_BEGIN = 60.0
SECONDS_TO_FINISH_REQUESTS = 10.0
# A process that ends within a minute is replaced after a pause that grows each time.
SECONDS_OF_HEALTH = 60.0
SHORTEST_PAUSE = 0.25
LONGEST_PAUSE = 30.0
# So many processes ended before any of them answered: the installation cannot work.
MOST_VAIN = 5
MOMENT = Struct("dd")
LOG = logging.getLogger("annotator.server")


class NothingAnswersError(AnnotatorError):
    """No server process could answer requests."""


class Beats:
    """The heartbeats of a process, in memory shared with its parent."""

    def __init__(self) -> None:
        """Start without a beat or turn."""
        self._memory = mmap(-1, MOMENT.size)

    def beat(self) -> None:
        """Record that the process runs."""
        self._memory[:8] = MOMENT.pack(time.monotonic(), 0)[:8]

    def turn(self) -> None:
        """Record that the event loop turns, so that requests are answered."""
        self._memory[8:] = MOMENT.pack(0, time.monotonic())[8:]

    def last(self) -> tuple[float, float]:
        """Times of the last beat and the last turn by the monotonic clock; 0 for none yet."""
        beat, turn = MOMENT.unpack(self._memory[:])
        return beat, turn


@dataclass
class Child:
    """A server process, or the pause before its replacement."""

    pid: int = 0
    begun_at: float = 0.0
    begins_at: float = 0.0  # when there is no process
    ends_in_a_row: int = 0
    beats: Beats = field(default_factory=Beats)

    def is_hanging(self, now: float) -> bool:
        """Whether a heartbeat is overdue."""
        beat, turn = self.beats.last()
        if not turn:
            return now - self.begun_at > SECONDS_TO_BEGIN
        return now - beat > SECONDS_WITHOUT_A_BEAT or now - turn > SECONDS_WITHOUT_A_TURN


class Supervisor:
    """Keeps a number of server processes running."""

    def __init__(self, count: int, answer: Callable[[Beats], None], when_answering: Callable[[], None]) -> None:
        """Run `answer` in each process until it is terminated; call `when_answering` once, when the first one answers.

        `answer` reports its first turn when it can take requests.
        """
        self._children = [Child() for _ in range(count)]
        self._answer = answer
        self._when_answering = when_answering
        self._answers = False
        self._vain = 0
        self._ending = threading.Event()

    def run(self) -> None:
        """Keep the processes running until SIGINT or SIGTERM; raises `NothingAnswersError`."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self._ending.set())
        try:
            while not self._ending.is_set():
                self._look(time.monotonic())
                self._ending.wait(SECONDS_BETWEEN_LOOKS)
        finally:
            self._end_all()

    def _look(self, now: float) -> None:
        for child in self._children:
            if child.pid and self._has_ended(child):
                self._plan_next(child, now)
            elif child.pid and child.is_hanging(now):
                # It is reaped at the next check.
                LOG.warning("Process %d does not answer any more and is replaced.", child.pid)
                _send(child.pid, signal.SIGKILL)
            if not child.pid and now >= child.begins_at:
                self._begin(child, now)
            if not self._answers and child.beats.last()[1]:
                self._answers = True
                self._when_answering()

    def _begin(self, child: Child, now: float) -> None:
        child.beats = Beats()
        child.begun_at = now
        sys.stderr.flush()
        sys.stdout.flush()
        child.pid = os.fork()
        if not child.pid:
            _be_child(self._answer, child.beats)

    def _has_ended(self, child: Child) -> bool:
        ended, status = os.waitpid(child.pid, os.WNOHANG)
        if not ended:
            return False
        LOG.warning("Process %d ended (%s) and is replaced.", child.pid, _reason(status))
        return True

    def _plan_next(self, child: Child, now: float) -> None:
        self._vain = 0 if child.beats.last()[1] else self._vain + 1
        if self._vain >= MOST_VAIN and not self._answers:
            raise NothingAnswersError("The pages cannot be served: no process that was begun could answer.")
        child.ends_in_a_row = 1 if now - child.begun_at > SECONDS_OF_HEALTH else child.ends_in_a_row + 1
        # The first replacement is immediate: judges are waiting.
        pause = 0.0 if child.ends_in_a_row == 1 else SHORTEST_PAUSE * 2 ** (child.ends_in_a_row - 2)
        child.pid = 0
        child.begins_at = now + min(pause, LONGEST_PAUSE)

    def _end_all(self) -> None:
        """Let the processes finish their current requests, within a time limit."""
        left = [child.pid for child in self._children if child.pid]
        for pid in left:
            _send(pid, signal.SIGTERM)
        end = time.monotonic() + SECONDS_TO_FINISH_REQUESTS + 1
        while left and time.monotonic() < end:
            left = [pid for pid in left if not os.waitpid(pid, os.WNOHANG)[0]]
            time.sleep(0.05)
        for pid in left:
            _send(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _be_child(answer: Callable[[Beats], None], beats: Beats) -> None:
    """Run `answer` in a forked process and exit it, without returning to the parent's stack."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # for Ctrl-C, which the parent gets as well
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        threading.Thread(target=_beat, args=(beats, os.getppid()), daemon=True).start()
        answer(beats)
        code = 0
    except BaseException as error:  # noqa: BLE001 - reported here, as no caller sees it
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        sys.stderr.flush()
        # A regular shutdown of Python would stop threads in the middle of their work.
        os._exit(code)


def _beat(beats: Beats, parent: int) -> None:
    """Beat while the parent lives, then end this process, which would otherwise keep the port."""
    while os.getppid() == parent:
        beats.beat()
        time.sleep(SECONDS_BETWEEN_BEATS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_FINISH_REQUESTS)
    os._exit(1)


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _reason(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"status {code}" if code >= 0 else f"signal {-code}"
