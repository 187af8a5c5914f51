"""The server is killed at random moments while judges work: what was acknowledged is there, each judgement once."""

import random
import time

from faults.judged_site import is_in_order
from faults.length import times
from faults.mortal_server import MortalServer
from faults.scripted_judge import all_acknowledged, judges_at_work, wait_for_work

KILLS = times(3, 200)
LONGEST_LIFE = 0.8


def test_what_a_killed_server_acknowledged_is_stored(mortal: MortalServer) -> None:
    chance = random.Random(KILLS)  # noqa: S311 - the same each time
    judges = judges_at_work(mortal.port)
    for _ in range(KILLS):
        time.sleep(chance.uniform(0.02, LONGEST_LIFE))
        before = [len(judge.acknowledged) for judge in judges]
        mortal.kill()
        mortal.start()
        wait_for_work(judges, before)
    acknowledged = all_acknowledged(judges)
    mortal.kill()
    assert len(acknowledged) == len(set(acknowledged)) > KILLS
    assert sum(judge.unanswered for judge in judges) > KILLS
    is_in_order(mortal.settings, acknowledged)
