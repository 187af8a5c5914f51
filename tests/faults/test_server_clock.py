"""The server's clock jumps back by days and forward again in mid-work: order and last word do not follow it."""

from datetime import UTC, datetime, timedelta

import pytest
from build import SLUG
from faults.judged_site import is_in_order
from faults.scripted_judge import BATCH
from sqlalchemy import select
from visiting import Visitor, application

from annotator.settings import Settings
from annotator.storage import Database, Judgement
from annotator.web.site import context

TOPIC = f"/collections/{SLUG}/judge/topics/1"
JUMPS = (
    timedelta(0),
    timedelta(days=-2),
    timedelta(minutes=-20),
    timedelta(days=-400),
    timedelta(hours=3),
    timedelta(0),
)


class TurnedClock:
    """What the pages take for the clock."""

    ahead = timedelta(0)

    @classmethod
    def now(cls, zone: object) -> datetime:
        """The present moment by that clock."""
        assert zone is UTC
        return datetime.now(UTC) + cls.ahead


def test_a_server_whose_clock_jumps_loses_nothing_and_gives_nothing_out_twice(
    site: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "datetime", TurnedClock)
    database = Database(site.database_url)
    app = application(database)
    judges = {name: Visitor(app, database, name) for name in ("jo", "kim")}
    said: list[str] = []
    for round_, ahead in enumerate(JUMPS):
        monkeypatch.setattr(TurnedClock, "ahead", ahead)
        for name, judge in judges.items():
            # To open the page is to be given documents.
            assert BATCH.search(judge.get(TOPIC).text) is not None
            for assignment in held(database, name)[:3]:
                id_ = f"{name}-{round_}-{assignment}"
                act = {"id": id_, "sequence": len(said), "assignment": assignment, "kind": "grade", "grade": round_ % 3}
                answer = judge.client.post(f"{TOPIC}/acts", json={"tab": name, "holds": [], "acts": [act]})
                assert answer.get_json()["acknowledged"] == [id_]
                said.append(id_)
    with database.reading() as session:
        stored = session.scalars(select(Judgement).order_by(Judgement.id)).all()
    assert [one.client_id for one in stored] == said
    assert all(one.current for one in stored)
    database.close()
    is_in_order(site, said)


def held(database: Database, name: str) -> list[int]:
    """What somebody has in hand."""
    statement = 'SELECT assignment.id FROM assignment JOIN "user" ON "user".id = judge_id WHERE state = \'live\''
    with database.reading() as session:
        rows = session.connection().exec_driver_sql(f"{statement} AND name = ? ORDER BY assignment.id", (name,))
        return [id_ for (id_,) in rows]
