"""A pool by LARA: judges get the documents of which a machine is least certain, and choices can be replayed."""

import pytest
from adaptive import AdaptiveJudge, chosen, lettered_news
from build import LIMIT, NOW, SLUG, build, member, run, user
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.files import InputFile
from annotator.storage import Database, Pool
from annotator.storage.agreement.machines import MachineFacts
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.agreement.machine_judges import mark_machine
from annotator.workflows.judging import judgement_import
from annotator.workflows.pools import pool_selection
from annotator.workflows.pools.pool_replay import replay_choices

SAID: dict[str, str | int] = {"budget": 6, "start_depth": 0, "machine": "llm"}


def machine_labels(session: Session, grades: str, name: str = "1.txt") -> None:
    lines = "".join(f"1 0 {docno} {grade}\n" for docno, grade in zip("abcdef", grades, strict=True))
    checked = judgement_import.check_judgements(
        session, SLUG, InputFile(name, lines.encode()), by_machine=True, unpacked_limit=LIMIT
    )
    judgement_import.store_judgements(
        session, SLUG, checked, judge="llm", machine=MachineFacts("model", "", None), added_at=NOW
    )


def uncertain_news(database: Database) -> AdaptiveJudge:
    with database.transaction() as session:
        lettered_news(session, judgements_wanted=1)
        run(session, "A", {"1": list("abcdefgh")})
        machine_labels(session, "021102")
        build(session, PoolRequest("lara", SAID))
        return AdaptiveJudge(database, member(session, "jo"), lambda _: 0)


def test_documents_come_by_the_machines_uncertainty_and_can_be_replayed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_selection, "ENOUGH_TO_DRAW", 1)
    judge = uncertain_news(database)
    shown = "".join(judge.work())
    with database.reading() as session:
        assert (shown, chosen(session)) == (shown, shown)
        assert shown[:2] == "cd"  # the grade 1 is least certain
        assert set(shown) == set("abcdef")
        found = replay_choices(session, SLUG)
        assert (found.choices, found.differences) == (6, ())
        assert len(session.scalars(select(Pool)).one().parameters["machine_sha256"]) == 64


def test_choices_by_labels_that_were_changed_cannot_be_repeated(database: Database) -> None:
    judge = uncertain_news(database)
    judge.work(most=2)
    with database.transaction() as session:
        machine_labels(session, "222222", "2.txt")
    with (
        database.reading() as session,
        pytest.raises(ConflictError, match="The labels of the machine “llm”, or which grades are relevant"),
    ):
        replay_choices(session, SLUG)


@pytest.mark.parametrize(
    ("machine", "error", "sentence"),
    [
        ("who", NotFoundError, "There is no user “who”."),
        ("jo", InvalidValueError, "“jo” is a person, not a machine judge."),
        ("idle", ConflictError, "The machine “idle” has graded no document of the runs yet."),
    ],
)
def test_a_machine_without_labels_is_refused(
    session: Session, machine: str, error: type[Exception], sentence: str
) -> None:
    lettered_news(session, judgements_wanted=1)
    run(session, "A", {"1": list("abcdefgh")})
    user(session, "jo")
    user(session, "idle")
    mark_machine(session, "idle", MachineFacts())
    with pytest.raises(error) as refused:
        build(session, PoolRequest("lara", {**SAID, "machine": machine}))
    assert str(refused.value) == sentence
