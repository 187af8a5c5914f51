"""The questionnaire of a collection: what organisers ask about every run, and what teams answer."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.runs.questionnaires import ANSWERS_HEADINGS, RunQuestion, fits, refuse_taken_keys, unanswered
from annotator.evaluation.runs.questionnaires import as_plain as as_plain
from annotator.evaluation.runs.questionnaires import parse_answers as parse_answers
from annotator.evaluation.runs.questionnaires import questions_of as questions_of
from annotator.evaluation.runs.questionnaires import read_answers as read_answers
from annotator.evaluation.runs.questionnaires import read_questionnaire as read_questionnaire
from annotator.spreadsheets import csv_text
from annotator.storage.collections.collection import find_collection, lock_open_collection
from annotator.storage.runs.questionnaires import (
    GivenAnswer,
    StoredAnswer,
    answers_of_runs,
    greatest_version,
    newest_questionnaire,
    questionnaires_of,
    replace_answers,
)
from annotator.storage.runs.runs import find_run
from annotator.storage.runs.sent_runs import SentRun, sent_runs
from annotator.storage.runs.tasks import find_task, tasks_of
from annotator.storage.tables.runs import QuestionnaireVersion, RunState
from annotator.workflows.runs.submissions import check_may_change

EVERY_HEADINGS = (
    *("run", "team", "file", "state", "key", "question", "kind", "answer", "questionnaire", "asked now"),
    *("answered by", "answered at"),
)


@dataclass(frozen=True)
class Questionnaire:
    """The questions asked now, and the number of their version; 0 as long as nothing was ever asked.

    `is_new` if the change that returned it made the version.
    """

    number: int
    questions: tuple[RunQuestion, ...]
    is_new: bool = False


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
    nothing to answer again: required questions that it leaves open are not `missing`.
    """

    run: SentRun
    asked: Questionnaire
    answers: Mapping[str, str]
    suggested: Mapping[str, str]
    kept: tuple[KeptAnswer, ...]
    missing: tuple[str, ...]

    @property
    def questions(self) -> tuple[RunQuestion, ...]:
        """What is asked now."""
        return self.asked.questions

    @property
    def is_asked_again(self) -> bool:
        """Whether a missing answer was given to the question as it was before."""
        return any(not one.counts and one.question.key in self.missing for one in self.kept)

    @property
    def is_excused(self) -> bool:
        """Whether required answers are open that nobody is asked for any more, as the round of the run is closed."""
        return not self.missing and bool(unanswered(self.questions, self.answers))

    @property
    def fingerprint(self) -> str:
        """A hash of the answers, empty without any, by which a change meanwhile is found."""
        written = json.dumps(sorted(self.answers.items()))
        return hashlib.sha256(written.encode()).hexdigest() if self.answers else ""


@dataclass(frozen=True)
class Seen:
    """What a person saw who changes answers: the version of the questionnaire, and the answers' fingerprint.

    None where it is not compared.
    """

    version: int | None = None
    answers: str | None = None


SEEN_NOTHING = Seen()


def show_questionnaire(session: Session, slug: str, task: str | None = None) -> Questionnaire:
    """What is asked about every run now, or about runs of the task with that key; `NotFoundError` for an unknown one.

    A task without a questionnaire of its own asks what the collection asks.
    """
    collection_id = find_collection(session, slug).id
    return _asked_of(session, collection_id, task)


def _asked_of(session: Session, collection_id: int, task: str | None) -> Questionnaire:
    return _questionnaire(newest_questionnaire(session, collection_id, _task_id(session, collection_id, task)))


def _task_id(session: Session, collection_id: int, task: str | None) -> int | None:
    return None if task is None else find_task(session, collection_id, task).id


def set_questionnaire(
    session: Session,
    slug: str,
    questions: Sequence[RunQuestion],
    *,
    made_by_id: int | None,
    at: datetime,
    after: int | None = None,
    task: str | None = None,
) -> Questionnaire:
    """Ask these questions from now on; answers to earlier ones are kept.

    With `task`, about its runs alone, and no longer what the collection asks. Versions are numbered through the whole
    collection. The same questions again change nothing. With `after`, raises `ConflictError` if that version is not the
    newest any more; `InvalidValueError` for invalid questions.
    """
    collection = lock_open_collection(session, slug)
    checked = questions_of(as_plain(questions))
    refuse_taken_keys(checked)
    task_id = _task_id(session, collection.id, task)
    present = _questionnaire(newest_questionnaire(session, collection.id, task_id))
    if after is not None and after != present.number:
        raise ConflictError("The questionnaire has changed since you opened its page. Open it again.")
    if present.questions == checked:
        return present
    number = greatest_version(session, collection.id) + 1
    made = QuestionnaireVersion(collection_id=collection.id, number=number, questions=as_plain(checked))
    made.task_id, made.made_by_id, made.made_at = task_id, made_by_id, at
    session.add(made)
    session.flush()
    return Questionnaire(made.number, checked, is_new=True)


def refuse_other_version(asked: Questionnaire, seen: int | None) -> None:
    """Raise `ConflictError` if the answers are to another version than this one."""
    if seen is not None and seen != asked.number:
        raise ConflictError(
            "The questionnaire has changed since you opened it. Nothing was stored: compare your answers with the "
            "questions as they are now, and send them again."
        )


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
    seen: Seen = SEEN_NOTHING,
) -> list[str]:
    """Change some answers of a run, by key; an empty one takes the answer back, others stay. Returns the keys.

    Raises `InvalidValueError` for answers that do not fit and, for a team, if a required one would be missing;
    `ConflictError` for a team's run of a closed round, and if questions or answers are not those that were `seen`; and
    as `check_may_change`.
    """
    collection = check_may_change(session, slug, by_id, team=team, at=at)
    present = show_answers(session, slug, tag, team=team)
    if team is not None and present.run.in_closed_round:
        raise ConflictError("The round of the run “%(tag)s” is closed: its answers stay as they are.", tag=tag)
    refuse_other_version(present.asked, seen.version)
    if seen.answers is not None and seen.answers != present.fingerprint:
        raise ConflictError(
            "Somebody else has changed these answers since you opened them. Nothing was stored: compare yours with "
            "those that are kept now, and send them again."
        )
    read = read_answers(present.questions, given)
    asked = newest_questionnaire(session, collection.id, _task_id(session, collection.id, present.run.task))
    if asked is not None:
        runs = {present.run.id: tag}
        _store(session, collection.id, asked, runs, read, by_id=by_id, at=at, requires=team is not None)
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
    version: int | None = None,
    task: str | None = None,
) -> None:
    """Answer for runs that were just stored, {run id: tag}; other answers are those of the runs that they correct.

    With a `version`, the answers are to that of the questionnaire of the `task`, or of none: they are not those of runs
    that are asked by another. Raises `InvalidValueError` for answers that do not fit and, with `requires`, if a
    required one is missing; `ConflictError` if they are to another version than the newest.
    """
    collection_id = find_collection(session, slug).id
    refuse_other_version(_asked_of(session, collection_id, task), version)
    groups = _by_questionnaire(session, collection_id, runs)
    known = {one.key for asked, _ in groups for one in _questionnaire(asked).questions}
    for asked, of_group in groups:
        questions = _questionnaire(asked).questions
        own = {one.key for one in questions}
        answers = {key: answer for key, answer in given.items() if key in own or key not in known}
        if version is not None and asked is not None and asked.number != version:
            answers = {}
        read = read_answers(questions, answers)
        if asked is not None and (requires or any(read.values())):
            # Fields of a form that were left empty keep what the corrected run had.
            answered = {key: answer for key, answer in read.items() if answer}
            _store(session, collection_id, asked, of_group, answered, by_id=by_id, at=at, requires=requires)


def _by_questionnaire(
    session: Session, collection_id: int, runs: Mapping[int, str]
) -> list[tuple[QuestionnaireVersion | None, dict[int, str]]]:
    """These runs, {run id: tag}, with the version that asks about them."""
    groups: dict[str | None, dict[int, str]] = {}
    for run in sent_runs(session, collection_id):
        if run.id in runs:
            groups.setdefault(run.task, {})[run.id] = run.tag
    return [
        (newest_questionnaire(session, collection_id, _task_id(session, collection_id, task)), of_group)
        for task, of_group in groups.items()
    ]


def foresee_answers(
    session: Session,
    slug: str,
    given: Mapping[str, object],
    *,
    requires: bool,
    version: int | None = None,
    task: str | None = None,
) -> None:
    """Raise as `answer_with_runs` for new runs, before any file is read; the tasks of runs are not known then."""
    collection_id = find_collection(session, slug).id
    tasks = {one.key for one in tasks_of(session, collection_id)}
    if task is not None and task not in tasks:
        return  # which the check of the files says
    asked = _asked_of(session, collection_id, task)
    refuse_other_version(asked, version)
    if tasks:
        return
    read = read_answers(asked.questions, given)
    if requires:
        _refuse_missing(unanswered(asked.questions, [key for key, answer in read.items() if answer]))


def answers_csv(session: Session, slug: str) -> str:
    """CSV with a line for each active run, and a column for each question that is asked now.

    A run is complete (yes or no), or its round was closed before it answered what is required now.
    """
    answers = list_answers(session, slug)
    asked = [show_questionnaire(session, slug), *(one.asked for one in answers)]
    keys = list(dict.fromkeys(question.key for one in asked for question in one.questions))
    rows = [
        [one.run.tag, one.run.team, one.run.version, _completeness(one), *map(one.answers.get, keys)] for one in answers
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


def _completeness(one: RunAnswers) -> str:
    if one.is_excused:
        return "round closed"
    return "no" if one.missing else "yes"


def _questionnaire(stored: QuestionnaireVersion | None) -> Questionnaire:
    return Questionnaire(0, ()) if stored is None else Questionnaire(stored.number, questions_of(stored.questions))


def _answers_of(session: Session, collection_id: int, runs: Sequence[SentRun]) -> list[RunAnswers]:
    versions = _versions(session, collection_id)
    stored = answers_of_runs(session, [run.id for run in runs])
    return [_of_run(run, versions.of_task(run.task), stored.get(run.id, [])) for run in runs]


@dataclass(frozen=True)
class _Versions:
    """All versions, by number: the questions by key, and the key of the task; of these, those that ask about a run."""

    asked: Mapping[int, Mapping[str, RunQuestion]]
    tasks: Mapping[int, str | None]
    task: str | None = None

    def of_task(self, task: str | None) -> "_Versions":
        """Those for runs of this task, which asks what the collection asks if it has none of its own."""
        return replace(self, task=task if task in self.tasks.values() else None)

    @property
    def newest(self) -> int:
        return max((number for number, task in self.tasks.items() if task == self.task), default=0)

    @property
    def now(self) -> Mapping[str, RunQuestion]:
        return self.asked.get(self.newest, {})

    def question_of(self, one: StoredAnswer) -> RunQuestion:
        # An archive may have an answer without its question.
        return self.asked[one.version].get(one.question) or RunQuestion(one.question, one.question)

    def counts(self, one: StoredAnswer) -> bool:
        present = self.now.get(one.question)
        return present is not None and present.asks_the_same(self.question_of(one))

    def counted(self, stored: Iterable[StoredAnswer]) -> dict[str, StoredAnswer]:
        """Key → the answer to what is asked now, empty where it was taken back."""
        earlier: dict[str, StoredAnswer] = {}
        newest: dict[str, StoredAnswer] = {}
        for one in filter(self.counts, stored):
            (newest if one.version == self.newest else earlier)[one.question] = one
        # Who answers the newest version answers all of it, also by taking an earlier answer back.
        return newest or earlier


def _versions(session: Session, collection_id: int) -> _Versions:
    versions = questionnaires_of(session, collection_id)
    keys: dict[int | None, str | None] = {task.id: task.key for task in tasks_of(session, collection_id)}
    return _Versions(
        {number: {one.key: one for one in questions_of(of.questions)} for number, of in versions.items()},
        {number: keys.get(of.task_id) for number, of in versions.items()},
    )


def _of_run(run: SentRun, versions: _Versions, stored: Sequence[StoredAnswer]) -> RunAnswers:
    kept: list[KeptAnswer] = []
    suggested: dict[str, str] = {}
    now = versions.now
    for one in stored:
        if one.answer:
            question, counts = versions.question_of(one), versions.counts(one)
            kept.append(KeptAnswer(question, one.version, one.answer, one.answered_by, one.answered_at, counts))
            if one.question in now and fits(now[one.question], one.answer):
                suggested[one.question] = one.answer
        else:
            suggested.pop(one.question, None)
    answers = {key: one.answer for key, one in versions.counted(stored).items() if one.answer}
    asked = Questionnaire(versions.newest, tuple(now.values()))
    missing = _missing(run, asked.questions, answers)
    return RunAnswers(run, asked, answers, suggested | answers, tuple(kept), tuple(missing))


def _missing(run: SentRun, questions: Sequence[RunQuestion], answers: Mapping[str, str]) -> list[str]:
    """The keys of the questions that the run must still answer; one of a closed round none."""
    return [] if run.in_closed_round else unanswered(questions, [key for key, answer in answers.items() if answer])


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
    versions, stored = _versions(session, collection_id), answers_of_runs(session, runs)
    for run_id, tag in runs.items():
        [sent] = [run for run in sent_runs(session, collection_id, tag) if run.id == run_id]
        before = versions.of_task(sent.task).counted(stored.get(run_id, []))
        after = {**{key: one.answer for key, one in before.items()}, **read}
        if requires:
            own_task = sent.task if asked.task_id is not None else None
            _refuse_missing(_missing(sent, tuple(questions.values()), after), own_task)
        given = {}
        for key, answer in after.items():
            one = before.get(key)
            # An answer that stays is that of the person who gave it, also when the others are given to a new version.
            by = (by_id, at) if one is None or one.answer != answer else (one.answered_by_id, one.answered_at)
            given[key] = GivenAnswer(questions[key].kind.value, answer, *by)
        replace_answers(session, run_id, asked.id, given)


def _refuse_missing(keys: Sequence[str], task: str | None = None) -> None:
    """Raise `InvalidValueError` that names the questions, and the task which asks them, if it has its own."""
    named = ", ".join(f"“{key}”" for key in keys)
    if keys and task is not None:
        raise InvalidValueError(
            "The questionnaire of the task %(task)s needs an answer to %(keys)s.", task=task, keys=named
        )
    if keys:
        raise InvalidValueError("The questionnaire needs an answer to %(keys)s.", keys=named)
