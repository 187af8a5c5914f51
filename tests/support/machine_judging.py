"""Machine judges in tests: add one, run it, and see what came of it."""

import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from build import NOW, SLUG
from local_server import HOST
from model_server import MODEL, VARIABLE, ModelServer
from sqlalchemy import select

from annotator.evaluation.machine_judging.tokens import Prices
from annotator.storage import Database, Document, MachineRun, Topic
from annotator.workflows.agreement import machine_running, machine_runs, machine_setup
from annotator.workflows.agreement.machine_runs import MachineView, RunRequest, RunView
from annotator.workflows.agreement.machine_setup import MachineSettings, MachineVersion
from annotator.workflows.agreement.model_requests import ModelAccess
from annotator.workflows.judging.machine_labels import machine_labels

ACCESS = ModelAccess((HOST,), (f"{HOST}=env:{VARIABLE}",))
NAME = "robot"
PRICES = Prices(1.0, 2.0, "EUR")


def settings_for(server: ModelServer, **changes: object) -> MachineSettings:
    return replace(MachineSettings(server.endpoint, MODEL), **changes)  # type: ignore[arg-type]


def add(
    database: Database, settings: MachineSettings, name: str = NAME, access: ModelAccess = ACCESS
) -> MachineVersion:
    with database.transaction() as session:
        return machine_setup.add_version(session, SLUG, name, settings, access=access, by_id=None, at=NOW)


def start(database: Database, request: RunRequest | None = None, number: int | None = None) -> RunView:
    with database.transaction() as session:
        return machine_runs.start_run(
            session, SLUG, NAME, number, request or RunRequest(), by_id=None, at=datetime.now(UTC)
        )


class Clock:
    """The time that a worker sees, which a test moves on."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


def work(database: Database, clock: Clock | None = None, access: ModelAccess = ACCESS) -> int:
    """Run parts until no run is due; returns their number."""
    time = clock or Clock()
    count = 0
    while True:
        with database.transaction() as session:
            run = machine_running.take_run(session, now=time())
        if run is None:
            return count
        machine_running.run_part(database, run, access, threading.Event(), time)
        count += 1


def work_through(database: Database) -> None:
    """Run parts, and let every pause be over, until the run has ended."""
    clock = Clock()
    for _ in range(50):
        work(database, clock)
        if last(database).finished_at is not None:
            return
        clock.ahead += timedelta(hours=2)
    raise AssertionError("the run does not end")


def view(database: Database, number: int | None = None) -> MachineView:
    return database.read(machine_runs.view_machine, SLUG, NAME, number)


def last(database: Database, number: int | None = None) -> RunView:
    return view(database, number).runs[0]


def grades(database: Database, number: int | None = None) -> dict[tuple[str, str], int]:
    """(Topic number, docno) → grade, of the labels of a version."""
    with database.reading() as session:
        version = machine_setup.show_version(session, SLUG, NAME, number)
        topics = {id_: name for id_, name in session.execute(select(Topic.id, Topic.number))}
        docnos = {id_: name for id_, name in session.execute(select(Document.id, Document.docno))}
        packed = machine_labels(session, version.judge_id, list(topics))
    return {
        (topics[topic], docnos[document]): grade
        for topic, labels in packed.items()
        for document, grade in zip(labels.document_ids.tolist(), labels.grades.tolist(), strict=True)
    }


def problems(database: Database) -> Mapping[str, str]:
    """Docno → why it has no label."""
    rows = database.read(machine_runs.documents_without_label, SLUG, NAME)
    return {row.docno: str(row.problem) for row in rows}


def release(database: Database) -> None:
    """Let the lease of a worker that was killed be over."""
    with database.transaction() as session:
        for run in session.scalars(select(MachineRun)):
            run.taken_until = None
