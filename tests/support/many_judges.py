"""Thirty-two concurrent judges who draw, judge, disappear, sign out, return late and resend, on a fake clock."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from time import sleep
from typing import TypeVar

from build import NOW, SLUG
from sqlalchemy.orm import Session

from annotator.errors import BusyError
from annotator.storage import Assignment, Database
from annotator.storage.judging.leases import Decision, give_back, return_assignments
from annotator.storage.tables.judging import LEASE
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.judging import more_documents
from annotator.workflows.judging.recording import record_acts

JUDGES = 32
# Of their requests.
ANSWERED_AT_ONCE = 8
# Of a hundred things a judge does.
VANISHES, SIGNS_OUT, SLEEPS, SENDS_TWICE, KEEPS_BACK, PUTS_OFF = 4, 3, 2, 15, 15, 5

Result = TypeVar("Result")


@dataclass
class Clock:
    """A fake clock shared by all judges, which they advance."""

    now: datetime = NOW
    lock: threading.Lock = field(default_factory=threading.Lock)

    def passes(self, by: timedelta) -> datetime:
        with self.lock:
            self.now += by
            return self.now


@dataclass
class Judge:
    """A person with a browser: documents in it, and what was decided and has not been acknowledged."""

    database: Database
    server: threading.Semaphore
    clock: Clock
    id: int
    random: Random
    topics: list[str]
    in_browser: dict[int, str] = field(default_factory=dict)  # assignment → docno
    unsent: list[Act] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)  # the ids of all judgements that were acknowledged
    shown: list[tuple[str, int, str]] = field(default_factory=list)  # topic, assignment, docno
    decided: int = 0

    def work(self) -> None:
        """Judge topic by topic, as long as there is anything to be had."""
        for topic in self.topics:
            while self.draw(topic):
                self.act()
            self.in_browser.clear()
        self.send(self.unsent)

    def draw(self, topic: str) -> bool:
        now = self.clock.passes(timedelta(seconds=self.random.randrange(20)))
        holds = tuple(self.in_browser)
        more = self.attempt(lambda session: more_documents(session, SLUG, topic, self.id, holds=holds, now=now))
        for document in more:
            self.in_browser[document.assignment_id] = document.docno
            self.shown.append((topic, document.assignment_id, document.docno))
        return bool(self.in_browser)

    def act(self) -> None:
        """What the browser holds is judged, unless its judge goes away before."""
        chance = self.random.randrange(100)
        if chance < VANISHES:
            self.in_browser.clear()
        elif chance < VANISHES + SIGNS_OUT:
            self.attempt(lambda session: return_assignments(session, self.id))
            self.in_browser.clear()
        elif chance < VANISHES + SIGNS_OUT + SLEEPS:
            self.clock.passes(LEASE + timedelta(seconds=1))
        else:
            self.judge(self.random.randrange(1, 9))

    def judge(self, count: int) -> None:
        """Decide some documents; a part of the acts waits for the next time, another is sent twice."""
        acts = [self.decide(assignment) for assignment in list(self.in_browser)[:count]]
        keeps_back = self.random.randrange(100) < KEEPS_BACK
        sends_twice = self.random.randrange(100) < SENDS_TWICE
        late, self.unsent = self.unsent, acts if keeps_back else []
        self.send([*late, *([] if keeps_back else acts)])
        if sends_twice:
            self.send(late + acts, again=True)

    def decide(self, assignment: int) -> Act:
        self.in_browser.pop(assignment)
        self.decided += 1
        off = self.random.randrange(100) < PUTS_OFF
        decision = None if off else Decision(self.random.randrange(3))
        return Act(f"j{self.id}-{self.decided}", assignment, decision, tab=f"t{self.id}", sequence=self.decided)

    def send(self, acts: Sequence[Act], *, again: bool = False) -> None:
        now = self.clock.passes(timedelta(seconds=1))
        recorded = self.attempt(lambda session: record_acts(session, SLUG, self.id, acts, received_at=now))
        assert recorded.refused == (), recorded.refused
        assert set(recorded.acknowledged) == {act.id for act in acts}
        if again:
            self.unsent = []
        known = set(self.sent)
        self.sent += [act.id for act in acts if act.decision is not None and act.id not in known]

    def attempt(self, work: Callable[[Session], Result]) -> Result:
        """Call `work`, and retry like a browser when the server is busy."""
        while True:
            try:
                with self.server:
                    return self.database.attempt(work)
            except BusyError:
                sleep(self.random.random() / 10)


def judge_at_once(database: Database, judge_ids: Sequence[int], topics: Sequence[str], seed: int) -> list[Judge]:
    """Let all of them work until nothing is left, and return them; what one of them was refused is raised."""
    clock = Clock()
    server = threading.Semaphore(ANSWERED_AT_ONCE)
    judges = []
    for number, id_ in enumerate(judge_ids):
        random = Random(seed * 1_000 + number)  # noqa: S311 - it decides what simulated judges do
        judges.append(Judge(database, server, clock, id_, random, random.sample(list(topics), len(topics))))
    with ThreadPoolExecutor(len(judges)) as threads:
        for done in [threads.submit(judge.work) for judge in judges]:
            done.result()
    # Some sessions never ended: their leases run out, and whoever is still there judges what came back.
    while give_back_expired(database, clock):
        for judge in judges:
            judge.work()
    return judges


def give_back_expired(database: Database, clock: Clock) -> int:
    now = clock.passes(LEASE + timedelta(seconds=1))
    return database.attempt(lambda session: give_back(session, Assignment.lease_until < now))
