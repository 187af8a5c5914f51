"""Somebody else keeps the database's lock: judges wait or are told to, and lose nothing."""

import time

from faults.judged_site import is_in_order
from faults.length import times
from faults.mortal_server import MortalServer
from faults.scripted_judge import all_acknowledged, judges_at_work, wait_for_work
from sqlalchemy import text

from annotator.storage import Database

# Longer than a request waits, in full; in short, what an import takes.
SECONDS = times(2, 30)


def test_a_database_that_is_locked_for_long_costs_nobody_a_judgement(mortal: MortalServer) -> None:
    judges = judges_at_work(mortal.port)
    database = Database(mortal.settings.database_url)
    with database.transaction() as session:
        session.execute(text("SELECT 1"))
        time.sleep(0.2)
        before = [len(judge.acknowledged) for judge in judges]
        time.sleep(SECONDS)
        assert [len(judge.acknowledged) for judge in judges] == before
    database.close()
    wait_for_work(judges, before)
    acknowledged = all_acknowledged(judges)
    assert set().union(*(judge.statuses for judge in judges)) <= {200, 503}
    mortal.kill()
    is_in_order(mortal.settings, acknowledged)
