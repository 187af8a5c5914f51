"""Versions of the questionnaire of a collection, and the answers of its runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.people import User
from annotator.storage.tables.runs import QuestionnaireVersion, RunAnswer


@dataclass(frozen=True)
class StoredAnswer:
    """A stored answer, with the number of the version that asked."""

    run_id: int
    version: int
    question: str
    answer: str
    answered_by: str | None
    answered_by_id: int | None
    answered_at: datetime


@dataclass(frozen=True)
class GivenAnswer:
    """An answer to be stored, with the type of its question, who gave it and when."""

    kind: str
    answer: str
    by_id: int | None
    at: datetime


def newest_questionnaire(
    session: Session, collection_id: int, task_id: int | None = None
) -> QuestionnaireVersion | None:
    """The version that asks about runs of this task, or of none; None if nothing was ever asked.

    A task without a version of its own has that of the collection.
    """
    wanted = select(QuestionnaireVersion).where(QuestionnaireVersion.collection_id == collection_id)
    newest = wanted.order_by(QuestionnaireVersion.number.desc()).limit(1)
    own = None if task_id is None else session.scalar(newest.where(QuestionnaireVersion.task_id == task_id))
    return own or session.scalar(newest.where(QuestionnaireVersion.task_id.is_(None)))


def newest_of_tasks(session: Session, collection_id: int) -> list[QuestionnaireVersion]:
    """The newest version of each task that has its own, in the order of the tasks."""
    newest = {one.task_id: one for one in questionnaires_of(session, collection_id).values() if one.task_id is not None}
    return [newest[id_] for id_ in sorted(newest)]


def greatest_version(session: Session, collection_id: int) -> int:
    """The greatest number of a version in the collection, whatever its task; 0 without any."""
    numbers = select(func.max(QuestionnaireVersion.number))
    return session.scalar(numbers.where(QuestionnaireVersion.collection_id == collection_id)) or 0


def questionnaires_of(session: Session, collection_id: int) -> dict[int, QuestionnaireVersion]:
    """Number → version, in order."""
    wanted = select(QuestionnaireVersion).where(QuestionnaireVersion.collection_id == collection_id)
    return {one.number: one for one in session.scalars(wanted.order_by(QuestionnaireVersion.number))}


def answers_of_runs(session: Session, run_ids: Iterable[int]) -> dict[int, list[StoredAnswer]]:
    """Run id → its answers to all versions, the oldest version first."""
    found: dict[int, list[StoredAnswer]] = {}
    wanted = (
        select(RunAnswer, QuestionnaireVersion.number, User.name)
        .join(QuestionnaireVersion, QuestionnaireVersion.id == RunAnswer.questionnaire_version_id)
        .outerjoin(User, User.id == RunAnswer.answered_by_id)
        .order_by(RunAnswer.run_id, QuestionnaireVersion.number, RunAnswer.question)
    )
    for some in chunks(list(run_ids)):
        for row, number, name in session.execute(wanted.where(RunAnswer.run_id.in_(some))):
            by = (name, row.answered_by_id)
            stored = StoredAnswer(row.run_id, number, row.question, row.answer, *by, row.answered_at)
            found.setdefault(row.run_id, []).append(stored)
    return found


def replace_answers(session: Session, run_id: int, version_id: int, answers: Mapping[str, GivenAnswer]) -> None:
    """Replace a run's answers to one version, by key; those to other versions stay."""
    of_version = (RunAnswer.run_id == run_id, RunAnswer.questionnaire_version_id == version_id)
    rows = [
        {
            "run_id": run_id,
            "questionnaire_version_id": version_id,
            "question": key,
            "kind": given.kind,
            "answer": given.answer,
            "answered_by_id": given.by_id,
            "answered_at": given.at,
        }
        for key, given in answers.items()
    ]
    session.execute(delete(RunAnswer).where(*of_version))
    if rows:
        session.execute(insert(RunAnswer), rows)


def carry_answers(session: Session, runs: Mapping[int, int]) -> None:
    """Copy the answers to corrected runs: {old run id: new run id}."""
    names = [column.name for column in RunAnswer.__table__.columns]
    for some in chunks(list(runs)):
        old = session.scalars(select(RunAnswer).where(RunAnswer.run_id.in_(some))).all()
        rows = [{name: getattr(row, name) for name in names} | {"run_id": runs[row.run_id]} for row in old]
        if rows:
            session.execute(insert(RunAnswer), rows)


def delete_answers_of(session: Session, user_id: int, *, kind: str) -> None:
    """Delete the answers of a kind that a person gave; what they took back stays so."""
    given = (RunAnswer.answered_by_id == user_id, RunAnswer.kind == kind, RunAnswer.answer != "")
    session.execute(delete(RunAnswer).where(*given))
