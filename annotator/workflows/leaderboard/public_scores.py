"""What everybody may read of a collection without signing in: the choice of its organisers, and what it shows."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, FileRefusedError, InvalidValueError, Problems, Sentence
from annotator.evaluation.formats.identifiers import check_free_text
from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.evaluation.metrics.names import DEFAULT_MEASURES, measures_on_scale
from annotator.evaluation.publishing.public_board import (
    PublicBoard,
    PublicPart,
    PublicResults,
    PublicTask,
    public_board,
)
from annotator.evaluation.publishing.veil import NO_VEIL, NameSearch, Veil
from annotator.storage import ACCEPTED, Pool, PublicScores, Run, Team, Topic
from annotator.storage import Collection as CollectionRow
from annotator.storage.collections.collection import (
    find_collection,
    latest_guidelines,
    lock_collection,
    rounds_of,
    scale_of,
)
from annotator.storage.leaderboard.scored_task import facts_of_task
from annotator.storage.qrels.qrels_versions import kept_version, number_of_grades
from annotator.storage.runs.tasks import tasks_of
from annotator.storage.tables.runs import IN_FORCE
from annotator.storage.tables.tasks import Task
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.leaderboard.release_kit import collection_veil
from annotator.workflows.people.registration import show_registration
from annotator.workflows.runs.submissions import deadline_in_words

MOST_PUBLIC_MEASURES = 8  # columns that can be read on a phone
LONGEST_DESCRIPTION = 20_000
LONGEST_CITATION = 2_000
TITLE, DESCRIPTION, GUIDELINES, CITATION = "title", "description", "guidelines", "citation"


@dataclass(frozen=True)
class PublicSettings:
    """What the public pages show; `measures` are empty for the usual ones.

    `allowed` are names of teams and runs that are ordinary words in the texts.
    """

    scores: PublicScores
    veiled: bool
    measures: tuple[str, ...]
    description: str
    guidelines: bool
    citation: str
    allowed: tuple[str, ...]

    @property
    def noted(self) -> dict[str, object]:
        """What the audit log notes."""
        return {"scores": self.scores, "veiled": self.veiled, "guidelines": self.guidelines}


@dataclass(frozen=True)
class PublicChange:
    """The settings to change; None keeps the present one."""

    scores: PublicScores | None = None
    veiled: bool | None = None
    measures: tuple[str, ...] | None = None
    description: str | None = None
    guidelines: bool | None = None
    citation: str | None = None
    allowed: tuple[str, ...] | None = None


class PublicRunState(NamedTuple):
    """A run that is shown."""

    id: int
    tag: str
    team: str | None
    task: int | None  # its id


@dataclass(frozen=True)
class TaskState:
    """A task of several: its texts, and the accepted topics that it has, by id."""

    id: int
    key: str
    title: str
    description: str
    topics: tuple[int, ...]


@dataclass(frozen=True)
class ReleasedState:
    """What public scores are computed from: the version of the qrels, and the runs shown.

    `further` changes with what else the scores depend on.
    """

    released_at: datetime
    version: int
    runs: tuple[PublicRunState, ...]
    further: tuple[object, ...]


@dataclass(frozen=True)
class PublicState:
    """Everything that the public pages are made from: equal states give equal pages.

    `registration_until` is None unless teams may register, and `released` is None where scores are not public.
    """

    slug: str
    settings: PublicSettings
    title: str
    guidelines: str
    deadline: str
    registration_until: datetime | None
    topics: tuple[tuple[int, str], ...]
    collection_id: int
    released: ReleasedState | None
    tasks: tuple[TaskState, ...] = ()

    def holds_at(self, at: datetime) -> bool:
        """Whether it is the same at a later time, as long as nothing is stored."""
        return self.registration_until is None or at < self.registration_until


def show_public(session: Session, slug: str) -> PublicSettings:
    """What the public pages of a collection are set to show."""
    return _settings(find_collection(session, slug))


def _settings(collection: CollectionRow) -> PublicSettings:
    return PublicSettings(
        PublicScores(collection.public_scores),
        collection.public_veiled,
        tuple(collection.public_measures.splitlines()),
        collection.public_description,
        collection.public_guidelines,
        collection.public_citation,
        tuple(collection.public_allowed.splitlines()),
    )


def change_public(session: Session, slug: str, change: PublicChange) -> PublicSettings:
    """Change what everybody may read, also of a closed collection.

    Raises `InvalidValueError` for a measure that is unknown and for too many or too long values, `ConflictError` when
    there are no scores by a kept version of the qrels to show, and `FileRefusedError` that names each text with a
    veiled name.
    """
    collection = lock_collection(session, slug)
    if change.scores is not None:
        collection.public_scores = change.scores
    if change.veiled is not None:
        collection.public_veiled = change.veiled
    if change.guidelines is not None:
        collection.public_guidelines = change.guidelines
    if change.measures is not None:
        collection.public_measures = "\n".join(_measures(session, collection, change.measures))
    if change.description is not None:
        collection.public_description = _text(change.description, LONGEST_DESCRIPTION)
    if change.citation is not None:
        collection.public_citation = _text(change.citation, LONGEST_CITATION)
    if change.allowed is not None:
        collection.public_allowed = _text("\n".join(change.allowed), LONGEST_DESCRIPTION)
    settings = _settings(collection)
    if settings.scores not in {PublicScores.NOTHING, PublicScores.TASK}:
        _refuse_unreleased(session, collection)
        _refuse_names(session, collection, settings)
    return settings


def _measures(session: Session, collection: CollectionRow, names: Collection[str]) -> list[str]:
    if len(names) > MOST_PUBLIC_MEASURES:
        raise InvalidValueError(
            "The public leaderboard has at most %(most)d measures, not %(given)d.",
            most=MOST_PUBLIC_MEASURES,
            given=len(names),
        )
    best_grade = max((grade.value for grade in scale_of(session, collection.id)), default=0)
    return [str(measure) for measure in measures_on_scale(names, best_grade)]


def _text(text: str, most: int) -> str:
    check_free_text(text, most)
    return text.strip()


def _refuse_unreleased(session: Session, collection: CollectionRow) -> None:
    if collection.scores_released_at is None:
        raise ConflictError(
            "No scores are released yet, so that nothing can be public: release them to participants first, from a "
            "kept version of the qrels."
        )
    if collection.scores_qrels_version is None:
        raise ConflictError(
            "The released scores are live, and public scores refer to a kept version of the qrels: release them from "
            "a version first."
        )
    if not _runs(session, collection, collection.scores_released_at):
        raise ConflictError("No active run was uploaded before the release of scores, so that there is none to show.")


def _refuse_names(session: Session, collection: CollectionRow, settings: PublicSettings) -> None:
    problems = Problems()
    for part, name in _names_in_texts(session, collection, settings):
        problems.add(part, None, "The text has the name “%(name)s” of a team or run.", name=name)
    if problems.total:
        raise FileRefusedError(
            problems,
            Sentence(
                "Nothing was made public: texts have names that are to be replaced by pseudonyms. Change the texts, or "
                "allow the names that are ordinary words there."
            ),
        )


def _names_in_texts(session: Session, collection: CollectionRow, settings: PublicSettings) -> list[tuple[str, str]]:
    """The parts of the public pages with a name that is veiled there, and the name."""
    tasks = tasks_of(session, collection.id)
    search = _search(_veil(session, collection.slug, settings), settings, tasks)
    texts = _texts(session, collection, settings)
    return [(part, name) for part, text in texts.items() for name in search.found(part, [text.encode()])]


def _veil(session: Session, slug: str, settings: PublicSettings) -> Veil:
    """The pseudonyms on the pages: none without scores, as no text can then reveal whose they are."""
    is_veiled = settings.veiled and settings.scores is not PublicScores.TASK
    return collection_veil(session, slug) if is_veiled else NO_VEIL


def _search(veil: Veil, settings: PublicSettings, tasks: Iterable[Task | TaskState]) -> NameSearch:
    """The search for veiled names; words of keys and titles of tasks, which organisers choose, are no names.

    Otherwise participants could end the pages: a run with such a name may come at any time.
    """
    return NameSearch(veil.names.difference(settings.allowed)).without_words_of(
        text for task in tasks for text in (task.key, task.title)
    )


def _texts(session: Session, collection: CollectionRow, settings: PublicSettings) -> Mapping[str, str]:
    latest = latest_guidelines(session, collection.id) if settings.guidelines else None
    return {
        TITLE: collection.title,
        DESCRIPTION: settings.description,
        GUIDELINES: "" if latest is None else latest.text,
        CITATION: settings.citation,
        **{_part_of(task): task.description for task in tasks_of(session, collection.id)},
    }


def _part_of(task: Task | TaskState) -> str:
    return f"task {task.key}"


def _topics_of(session: Session, task: Task, accepted: Sequence[tuple[int, str]]) -> tuple[int, ...]:
    """The ids of the accepted topics that the task has."""
    facts = facts_of_task(session, task.collection_id, task.key)
    return tuple(id_ for id_, _ in accepted if facts is None or facts.topics is None or id_ in facts.topics)


def public_state(session: Session, slug: str, *, at: datetime) -> PublicState:
    """What the public pages are made from, by a few small queries.

    Raises `NotFoundError` for an unknown collection, and `ConflictError` while nothing of it is public.
    """
    collection = find_collection(session, slug)
    settings = _settings(collection)
    if settings.scores is PublicScores.NOTHING:
        raise ConflictError("Nothing of the collection is public: choose first what everybody may read.")
    released = None if settings.scores is PublicScores.TASK else _released(session, collection, at)
    rows = session.execute(
        select(Topic.id, Topic.number).where(Topic.collection_id == collection.id, ACCEPTED).order_by(Topic.id)
    )
    topics = tuple((id_, number) for id_, number in rows)
    return PublicState(
        slug,
        settings,
        collection.title,
        _texts(session, collection, settings)[GUIDELINES],
        deadline_in_words(collection.submissions_until, collection.submissions_until_written),
        _registration_until(session, slug, at),
        topics,
        collection.id,
        released,
        tuple(
            TaskState(task.id, task.key, task.title, task.description, _topics_of(session, task, topics))
            for task in tasks_of(session, collection.id)
        ),
    )


def _released(session: Session, collection: CollectionRow, at: datetime) -> ReleasedState:
    released_at, version = collection.scores_released_at, collection.scores_qrels_version
    if released_at is None or at < released_at or version is None:
        raise ConflictError("The scores of the collection are not released yet, so that nothing of it is public.")
    runs = _runs(session, collection, released_at)
    return ReleasedState(released_at, version, runs, _basis_of_scores(session, collection))


def _registration_until(session: Session, slug: str, at: datetime) -> datetime | None:
    registration = show_registration(session, slug, now=at)
    return registration.until if registration.is_open else None


def _basis_of_scores(session: Session, collection: CollectionRow) -> tuple[object, ...]:
    """What the scores and names on the pages depend on beside the runs and topics that they show."""
    pools = select(func.count(Pool.id), func.max(Pool.id)).where(Pool.collection_id == collection.id)
    best_grade = max((grade.value for grade in scale_of(session, collection.id)), default=0)
    has_rounds = bool(rounds_of(session, collection.id))  # the leaderboard then has a notice
    teams = select(Team.name).where(Team.collection_id == collection.id).order_by(Team.id)
    sent = select(func.count(Run.id), func.max(Run.id)).where(Run.collection_id == collection.id)
    names = (*session.execute(sent).one(), *session.scalars(teams))  # with which texts are searched
    return (collection.relevant_from, best_grade, has_rounds, *session.execute(pools).one(), *names)


def _runs(session: Session, collection: CollectionRow, released_at: datetime) -> tuple[PublicRunState, ...]:
    """The runs in force that were uploaded before the release."""
    rows = session.execute(
        select(Run.id, Run.tag, Team.name, Run.task_id)
        .outerjoin(Team, Team.id == Run.team_id)
        .where(Run.collection_id == collection.id, IN_FORCE, Run.uploaded_at < released_at)
        .order_by(Run.id)
    )
    return tuple(PublicRunState(*row) for row in rows)


def public_task(session: Session, state: PublicState) -> PublicTask:
    """Describe the task and, where scores are public, score the runs by the released version of the qrels, as kept.

    Of the texts, those that have a veiled name by now are left out; in place of the title the slug is shown. Raises
    `ConflictError` when no run or no topic is left.
    """
    settings = state.settings
    veil = _veil(session, state.slug, settings)
    search = _search(veil, settings, state.tasks)

    def shown(part: str, text: str) -> str:
        return "" if search.found(part, [text.encode()]) else text

    return PublicTask(
        title=shown(TITLE, state.title) or state.slug,
        description=shown(DESCRIPTION, settings.description),
        guidelines=shown(GUIDELINES, state.guidelines),
        citation=shown(CITATION, settings.citation),
        deadline=state.deadline,
        topics=len(state.topics),
        registration_until=state.registration_until,
        results=None if state.released is None else _results(session, state, state.released, veil),
        parts=tuple(
            PublicPart(task.key, task.title, shown(_part_of(task), task.description), len(task.topics))
            for task in state.tasks
        ),
    )


def _results(session: Session, state: PublicState, released: ReleasedState, veil: Veil) -> PublicResults:
    version = kept_version(session, state.collection_id, str(released.version))
    boards = {task.key: board for task in state.tasks if (board := _board_of_task(session, state, task, veil))}
    if not state.tasks:
        whole = _board(session, state, released, None)
        judged, shown = whole.grades, public_board(whole, veil, relative=_is_relative(state))
    elif boards:
        judged, shown = number_of_grades(session, version.id), next(iter(boards.values()))
    else:
        raise ConflictError("No task has a run with a score, so that there is none to show.")
    ids = {task.id for task in state.tasks if task.key in boards}
    teams = {run.team for run in released.runs if not state.tasks or run.task in ids}
    return PublicResults(
        released_at=released.released_at,
        version=released.version,
        kept_at=version.made_at,
        judged=judged,
        teams=len(teams - {None}),
        veiled=state.settings.veiled,
        board=shown,
        of_parts=boards,
        part=next(iter(boards), None),
    )


def _is_relative(state: PublicState) -> bool:
    return state.settings.scores is PublicScores.RELATIVE


def _board_of_task(session: Session, state: PublicState, task: TaskState, veil: Veil) -> PublicBoard | None:
    """The runs of a task; None while it has no run or no judged topic."""
    if state.released is None:
        return None
    try:
        board = _board(session, state, state.released, task.key)
    except ConflictError:
        return None
    return public_board(board, veil, relative=_is_relative(state))


def _board(session: Session, state: PublicState, released: ReleasedState, task: str | None) -> Leaderboard:
    grades = GradesFrom(version=released.version, as_kept=True, task=task)
    # Without the cache of the process: anonymous readers evict nothing that judges and organisers use.
    return build_leaderboard(
        session,
        state.slug,
        state.settings.measures or DEFAULT_MEASURES,
        grades=grades,
        before=released.released_at,
    )
