"""A judge at work from a script: sends what it says until it is acknowledged, and keeps its own log of that."""

import json
import random
import re
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from http.client import HTTPException

from build import SLUG
from faults.caller import SECONDS_TO_ANSWER, Caller
from faults.judged_site import JUDGES

BATCH = re.compile(r'<script type="application/json" id="batch">(.*?)</script>', re.DOTALL)
JSON = "application/json"
PAUSE_AFTER_FAULT = 0.05
DONE = 200
Act = dict[str, object]


class ScriptedJudge:
    """Judges one topic as fast as it is answered; when no document is left, changes its mind about earlier ones."""

    def __init__(self, port: int, name: str, topic: str) -> None:
        """Begin with nothing said; `thread` signs in and judges."""
        self.name = name
        self.topic = topic
        self.path = f"/collections/{SLUG}/judge/topics/{topic}"
        self.acknowledged: list[str] = []
        self.refused: list[object] = []
        self.statuses: set[int] = set()
        self.unanswered = 0
        self.is_to_stop = threading.Event()
        self.thread = threading.Thread(target=self._judge, daemon=True)
        self._caller = Caller(port, name)
        self._chance = random.Random(name)  # noqa: S311 - the same each time
        self._documents: list[int] = []
        self._judged: list[int] = []
        self._said = 0

    def _judge(self) -> None:
        """Judge until `is_to_stop`; what was said last is acknowledged by then."""
        while not self._caller.is_signed_in and not self.is_to_stop.is_set():
            self._try(self._caller.sign_in)
        while not self.is_to_stop.is_set():
            if not self._documents:
                self._try(self._open)
            act = self._next_act()
            if act is not None:
                say = partial(self._send, act)
                while not self._try(say):
                    pass

    def _try(self, work: Callable[[], bool]) -> bool:
        try:
            done = work()
        except (OSError, HTTPException):
            done = False
            self.unanswered += 1
        if not done:
            time.sleep(PAUSE_AFTER_FAULT)
        return done

    def _open(self) -> bool:
        """Open the topic's page; with no document left there is no batch on it."""
        page = self._caller.ask("GET", self.path)
        found = BATCH.search(page.content)
        if found is not None:
            batch = json.loads(found[1])
            self._caller.csrf = batch["csrf"]
            self._take(batch["documents"])
        return page.status == DONE

    def _take(self, documents: Sequence[dict[str, int]]) -> None:
        known = {*self._documents, *self._judged}
        self._documents += [one["assignment"] for one in documents if one["assignment"] not in known]

    def _next_act(self) -> Act | None:
        if not self._documents and not self._judged:
            return None
        assignment = self._documents.pop(0) if self._documents else self._chance.choice(self._judged)
        self._said += 1
        return {
            "id": f"{self.name}-{self.topic}-{self._said}",
            "sequence": self._said,
            "assignment": assignment,
            "kind": "grade",
            "grade": self._chance.randrange(3),
        }

    def _send(self, act: Act) -> bool:
        body = json.dumps({"tab": self.name, "holds": self._documents, "draw": True, "acts": [act]})
        answer = self._caller.ask("POST", f"{self.path}/acts", body, kind=JSON)
        self.statuses.add(answer.status)
        if answer.status != DONE:
            return False
        found = json.loads(answer.content)
        self.refused += found["refused"]
        self.acknowledged += found["acknowledged"]
        self._judged.append(int(str(act["assignment"])))
        self._take(found["documents"])
        return True


def judges_at_work(port: int) -> list[ScriptedJudge]:
    """All judges of the site, two a topic, once each has something acknowledged."""
    judges = [ScriptedJudge(port, name, str(place % 2 + 1)) for place, name in enumerate(JUDGES)]
    for judge in judges:
        judge.thread.start()
    wait_for_work(judges, [0] * len(judges))
    return judges


def wait_for_work(judges: list[ScriptedJudge], before: list[int]) -> None:
    """Wait until each has more acknowledged than before."""
    end = time.monotonic() + SECONDS_TO_ANSWER
    while any(len(judge.acknowledged) <= count for judge, count in zip(judges, before, strict=True)):
        assert time.monotonic() < end, [(len(judge.acknowledged), judge.statuses) for judge in judges]
        time.sleep(0.01)


def wait_for_status(judges: list[ScriptedJudge], status: int) -> None:
    """Wait until one of them was answered with this status."""
    end = time.monotonic() + SECONDS_TO_ANSWER
    while not any(status in judge.statuses for judge in judges):
        assert time.monotonic() < end, [judge.statuses for judge in judges]
        time.sleep(0.01)


def all_acknowledged(judges: list[ScriptedJudge]) -> list[str]:
    """Let judges say their last, and return what was acknowledged to them."""
    for judge in judges:
        judge.is_to_stop.set()
    for judge in judges:
        judge.thread.join(SECONDS_TO_ANSWER)
        assert not judge.thread.is_alive(), f"{judge.name} still waits for an answer"
        assert judge.refused == []
    return [id_ for judge in judges for id_ in judge.acknowledged]
