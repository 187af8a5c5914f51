"""The questionnaire of a collection: what organisers ask about every run, and what teams answer."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
    newest_questionnaire,
    questionnaires_of,
    replace_answers,
)
from annotator.storage.runs.runs import find_run
from annotator.storage.runs.sent_runs import SentRun, sent_runs
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
    refuse_taken_keys(checked)
    present = _questionnaire(newest_questionnaire(session, collection.id))
    if after is not None and after != present.number:
        raise ConflictError("The questionnaire has changed since you opened its page. Open it again.")
    if present.questions == checked:
        return present
    made = QuestionnaireVersion(collection_id=collection.id, number=present.number + 1, questions=as_plain(checked))
    made.made_by_id, made.made_at = made_by_id, at
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
    asked = newest_questionnaire(session, collection.id)
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
) -> None:
    """Answer for runs that were just stored, {run id: tag}; other answers are those of the runs that they correct.

    Raises `InvalidValueError` for answers that do not fit and, with `requires`, if a required one is missing;
    `ConflictError` if they are to another `version` than the newest.
    """
    collection_id = find_collection(session, slug).id
    asked = newest_questionnaire(session, collection_id)
    refuse_other_version(_questionnaire(asked), version)
    read = read_answers(_questionnaire(asked).questions, given)
    if asked is not None and (requires or any(read.values())):
        # Fields of a form that were left empty keep what the corrected run had.
        answered = {key: answer for key, answer in read.items() if answer}
        _store(session, collection_id, asked, runs, answered, by_id=by_id, at=at, requires=requires)


def foresee_answers(
    session: Session, slug: str, given: Mapping[str, object], *, requires: bool, version: int | None = None
) -> None:
    """Raise as `answer_with_runs` for new runs, before any file is read."""
    asked = show_questionnaire(session, slug)
    refuse_other_version(asked, version)
    read = read_answers(asked.questions, given)
    if requires:
        _refuse_missing(unanswered(asked.questions, [key for key, answer in read.items() if answer]))


def answers_csv(session: Session, slug: str) -> str:
    """CSV with a line for each active run, and a column for each question that is asked now.

    A run is complete (yes or no), or its round was closed before it answered what is required now.
    """
    keys = [one.key for one in show_questionnaire(session, slug).questions]
    rows = [
        [one.run.tag, one.run.team, one.run.version, _completeness(one), *map(one.answers.get, keys)]
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


def _completeness(one: RunAnswers) -> str:
    if one.is_excused:
        return "round closed"
    return "no" if one.missing else "yes"


def _questionnaire(stored: QuestionnaireVersion | None) -> Questionnaire:
    return Questionnaire(0, ()) if stored is None else Questionnaire(stored.number, questions_of(stored.questions))


def _answers_of(session: Session, collection_id: int, runs: Sequence[SentRun]) -> list[RunAnswers]:
    versions = _versions(session, collection_id)
    stored = answers_of_runs(session, [run.id for run in runs])
    return [_of_run(run, versions, stored.get(run.id, [])) for run in runs]


@dataclass(frozen=True)
class _Versions:
    """All versions, by number: the questions by key."""

    asked: Mapping[int, Mapping[str, RunQuestion]]

    @property
    def newest(self) -> int:
        return max(self.asked, default=0)

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
    return _Versions({number: {one.key: one for one in questions_of(of.questions)} for number, of in versions.items()})


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
        before = versions.counted(stored.get(run_id, []))
        after = {**{key: one.answer for key, one in before.items()}, **read}
        if requires:
            _refuse_missing(_missing(sent, tuple(questions.values()), after))
        given = {}
        for key, answer in after.items():
            one = before.get(key)
            # An answer that stays is that of the person who gave it, also when the others are given to a new version.
            by = (by_id, at) if one is None or one.answer != answer else (one.answered_by_id, one.answered_at)
            given[key] = GivenAnswer(questions[key].kind.value, answer, *by)
        replace_answers(session, run_id, asked.id, given)


def _refuse_missing(keys: Sequence[str]) -> None:
    if keys:
        raise InvalidValueError(
            "The questionnaire needs an answer to %(keys)s.", keys=", ".join(f"“{key}”" for key in keys)
        )
