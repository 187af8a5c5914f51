"""The questionnaire of a collection: what organisers ask about every run, and what teams answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.runs.questionnaires import RunQuestion, fits, unanswered
from annotator.evaluation.runs.questionnaires import as_plain as as_plain
from annotator.evaluation.runs.questionnaires import parse_answers as parse_answers
from annotator.evaluation.runs.questionnaires import questions_of as questions_of
from annotator.evaluation.runs.questionnaires import read_answers as read_answers
from annotator.evaluation.runs.questionnaires import read_questionnaire as read_questionnaire
from annotator.spreadsheets import csv_text
from annotator.storage.collections.collection import find_collection, lock_open_collection
from annotator.storage.runs.questionnaires import (
    StoredAnswer,
    answers_of_runs,
    newest_questionnaire,
    questionnaires_of,
    replace_answers,
)
from annotator.storage.runs.runs import find_run
from annotator.storage.runs.sent_runs import SentRun, sent_runs
from annotator.storage.tables.runs import QuestionnaireVersion, RunState
from annotator.workflows.runs.submissions import check_may_change

ANSWERS_HEADINGS = ("run", "team", "file", "complete")
EVERY_HEADINGS = (
    *("run", "team", "file", "state", "key", "question", "kind", "answer", "questionnaire", "asked now"),
    *("answered by", "answered at"),
)


@dataclass(frozen=True)
class Questionnaire:
    """The questions asked now, and the number of their version; 0 as long as nothing was ever asked."""

    number: int
    questions: tuple[RunQuestion, ...]


@dataclass(frozen=True)
class KeptAnswer:
    """An answer, and the question as it was when it was answered.

    `counts` if the questionnaire still asks the same.
    """

    question: RunQuestion
    version: int
    answer: str
    answered_by: str | None
    answered_at: datetime
    counts: bool


@dataclass(frozen=True)
class RunAnswers:
    """What a run answered: key → answer to what is asked now, every kept answer, and required ones that are missing.

    `suggested` also has earlier answers that would fit questions which were reworded. A run of a closed round has
    nothing to answer again.
    """

    run: SentRun
    questions: tuple[RunQuestion, ...]
    answers: Mapping[str, str]
    suggested: Mapping[str, str]
    kept: tuple[KeptAnswer, ...]
    missing: tuple[str, ...]


def show_questionnaire(session: Session, slug: str) -> Questionnaire:
    """What is asked about every run now."""
    return _questionnaire(newest_questionnaire(session, find_collection(session, slug).id))


def set_questionnaire(
    session: Session,
    slug: str,
    questions: Sequence[RunQuestion],
    *,
    made_by_id: int | None,
    at: datetime,
    after: int | None = None,
) -> Questionnaire:
    """Ask these questions from now on; answers to earlier ones are kept.

    The same questions again change nothing. With `after`, raises `ConflictError` if that version is not the newest any
    more; `InvalidValueError` for invalid questions.
    """
    collection = lock_open_collection(session, slug)
    checked = questions_of(as_plain(questions))
    present = _questionnaire(newest_questionnaire(session, collection.id))
    if after is not None and after != present.number:
        raise ConflictError("The questionnaire has changed since you opened its page. Open it again.")
    if present.questions == checked:
        return present
    made = QuestionnaireVersion(collection_id=collection.id, number=present.number + 1, questions=as_plain(checked))
    made.made_by_id, made.made_at = made_by_id, at
    session.add(made)
    session.flush()
    return _questionnaire(made)


def show_answers(session: Session, slug: str, tag: str, *, team: str | None = None) -> RunAnswers:
    """The answers of a run's newest file; with `team`, only for runs of that team."""
    collection_id = find_collection(session, slug).id
    run_id = find_run(session, collection_id, tag, team=team).id
    [sent] = [run for run in sent_runs(session, collection_id, tag) if run.id == run_id]
    return _answers_of(session, collection_id, [sent])[0]


def list_answers(session: Session, slug: str, *, team: str | None = None) -> list[RunAnswers]:
    """The answers of the active runs, by tag; with `team`, of its runs."""
    collection_id = find_collection(session, slug).id
    active = [
        run
        for run in sent_runs(session, collection_id)
        if run.state == RunState.IN_FORCE and (team is None or run.team == team)
    ]
    return _answers_of(session, collection_id, sorted(active, key=lambda run: natural_order(run.tag)))


def change_answers(
    session: Session,
    slug: str,
    tag: str,
    given: Mapping[str, object],
    *,
    at: datetime,
    by_id: int | None = None,
    team: str | None = None,
) -> list[str]:
    """Change some answers of a run, by key; an empty one takes the answer back, others stay. Returns the keys.

    Raises `InvalidValueError` for answers that do not fit and, for a team, if a required one would be missing; and as
    `check_may_change`.
    """
    collection = check_may_change(session, slug, by_id, team=team, at=at)
    run = find_run(session, collection.id, tag, team=team)
    asked = newest_questionnaire(session, collection.id)
    read = read_answers(_questionnaire(asked).questions, given)
    if asked is not None:
        _store(session, collection.id, asked, {run.id: tag}, read, by_id=by_id, at=at, requires=team is not None)
    return sorted(read)


def answer_with_runs(
    session: Session,
    slug: str,
    runs: Mapping[int, str],
    given: Mapping[str, object],
    *,
    by_id: int | None,
    at: datetime,
    requires: bool,
) -> None:
    """Answer for runs that were just stored, {run id: tag}; other answers are those of the runs that they correct.

    Raises `InvalidValueError` for answers that do not fit and, with `requires`, if a required one is missing.
    """
    collection_id = find_collection(session, slug).id
    asked = newest_questionnaire(session, collection_id)
    read = read_answers(_questionnaire(asked).questions, given)
    if asked is not None and (requires or any(read.values())):
        # Fields of a form that were left empty keep what the corrected run had.
        answered = {key: answer for key, answer in read.items() if answer}
        _store(session, collection_id, asked, runs, answered, by_id=by_id, at=at, requires=requires)


def foresee_answers(session: Session, slug: str, given: Mapping[str, object], *, requires: bool) -> None:
    """Raise as `answer_with_runs` for new runs, before any file is read."""
    questions = show_questionnaire(session, slug).questions
    read = read_answers(questions, given)
    if requires:
        _refuse_missing(unanswered(questions, [key for key, answer in read.items() if answer]))


def answers_csv(session: Session, slug: str) -> str:
    """CSV with a line for each active run, and a column for each question that is asked now."""
    keys = [one.key for one in show_questionnaire(session, slug).questions]
    rows = [
        [one.run.tag, one.run.team, one.run.version, "no" if one.missing else "yes", *map(one.answers.get, keys)]
        for one in list_answers(session, slug)
    ]
    return csv_text([[*ANSWERS_HEADINGS, *keys], *rows])


def every_answer_csv(session: Session, slug: str) -> str:
    """CSV with a line for each answer that was ever kept, of every file, with its question as it was then."""
    collection_id = find_collection(session, slug).id
    rows = [
        [
            *(one.run.tag, one.run.team, one.run.version, one.run.state, kept.question.key, kept.question.text),
            *(kept.question.kind, kept.answer, kept.version, "yes" if kept.counts else "no"),
            *(kept.answered_by, kept.answered_at.isoformat()),
        ]
        for one in _answers_of(session, collection_id, sent_runs(session, collection_id))
        for kept in one.kept
    ]
    return csv_text([EVERY_HEADINGS, *rows])


def _questionnaire(stored: QuestionnaireVersion | None) -> Questionnaire:
    return Questionnaire(0, ()) if stored is None else Questionnaire(stored.number, questions_of(stored.questions))


def _answers_of(session: Session, collection_id: int, runs: Sequence[SentRun]) -> list[RunAnswers]:
    versions = questionnaires_of(session, collection_id)
    asked = {number: {one.key: one for one in questions_of(of.questions)} for number, of in versions.items()}
    now = asked[max(asked)] if asked else {}
    stored = answers_of_runs(session, [run.id for run in runs])
    return [_of_run(run, now, asked, stored.get(run.id, [])) for run in runs]


def _of_run(
    run: SentRun,
    now: Mapping[str, RunQuestion],
    asked: Mapping[int, Mapping[str, RunQuestion]],
    stored: Sequence[StoredAnswer],
) -> RunAnswers:
    kept: list[KeptAnswer] = []
    earlier: dict[str, str] = {}
    newest: dict[str, str] = {}
    suggested: dict[str, str] = {}
    for one in stored:
        # An archive may have an answer without its question.
        question = asked[one.version].get(one.question) or RunQuestion(one.question, one.question)
        present = now.get(one.question)
        counts = present is not None and present.asks_the_same(question)
        if one.answer:
            kept.append(KeptAnswer(question, one.version, one.answer, one.answered_by, one.answered_at, counts))
        if present is not None and fits(present, one.answer):
            suggested[one.question] = one.answer
        if counts:
            (newest if one.version == max(asked) else earlier)[one.question] = one.answer
    # Who answers the newest version answers all of it, also by taking an earlier answer back.
    answers = {key: answer for key, answer in (newest or earlier).items() if answer}
    missing = () if run.in_closed_round else unanswered(now.values(), answers)
    return RunAnswers(run, tuple(now.values()), answers, suggested | answers, tuple(kept), tuple(missing))


def _store(
    session: Session,
    collection_id: int,
    asked: QuestionnaireVersion,
    runs: Mapping[int, str],
    read: Mapping[str, str],
    *,
    by_id: int | None,
    at: datetime,
    requires: bool,
) -> None:
    questions = {one.key: one for one in _questionnaire(asked).questions}
    for run_id, tag in runs.items():
        [sent] = [run for run in sent_runs(session, collection_id, tag) if run.id == run_id]
        before = _answers_of(session, collection_id, [sent])[0].answers
        after = {**before, **read}
        if requires:
            _refuse_missing(unanswered(questions.values(), [key for key, answer in after.items() if answer]))
        kinds = {key: (questions[key].kind.value, answer) for key, answer in after.items()}
        replace_answers(session, run_id, asked.id, kinds, by_id=by_id, at=at)


def _refuse_missing(keys: Sequence[str]) -> None:
    if keys:
        raise InvalidValueError(
            "The questionnaire needs an answer to %(keys)s.", keys=", ".join(f"“{key}”" for key in keys)
        )
