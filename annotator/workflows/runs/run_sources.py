"""Sources of runs: search engines with what they are asked, kept so that their runs are fetched again."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from annotator.errors import (
    AnnotatorError,
    BusyError,
    ConflictError,
    FileRefusedError,
    InvalidValueError,
    NotFoundError,
    Sentence,
)
from annotator.evaluation.runs.run_intake import refusal_of_any
from annotator.evaluation.runs.run_tags import Sender
from annotator.evaluation.runs.search_engines import Dialect, HitPaths, SearchEngine
from annotator.storage import Database, RunSource, RunType
from annotator.storage.collections.audit import Actor
from annotator.storage.collections.collection import find_collection, lock_open_collection
from annotator.storage.people.accounts import find_or_add_team
from annotator.storage.runs.run_sources import (
    delete_run_source,
    note_problem,
    run_sources,
    runs_from_source,
    stored_source,
)
from annotator.storage.runs.runs import RunDetails
from annotator.storage.runs.sent_runs import sent_runs
from annotator.storage.runs.tasks import find_task, tasks_of
from annotator.storage.tables.runs import RunState
from annotator.workflows.runs.due_sources import next_at
from annotator.workflows.runs.engine_requests import EngineAccess, Progress
from annotator.workflows.runs.run_fetching import FetchedRun, RunOrder, check_order, fetch_run
from annotator.workflows.runs.run_rules import sorted_tags
from annotator.workflows.runs.runs import check_details
from annotator.workflows.runs.submissions import refuse_after_deadline
from annotator.workflows.site.outgoing import check_address

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
# In the tag of a source: the day in UTC, and the number of the run among those of the source.
IN_TAG = re.compile(r"\{(date|number)\}")
HOURS = range(24)
MOST_SOURCES = 50
# The longest values in a tag.
LATEST = datetime.max.replace(tzinfo=UTC)
MOST_RUNS = 999_999
NO_DETAILS = RunDetails()


@dataclass(frozen=True)
class SourceSettings:
    """What a source asks, and what its runs are like; `tag` may have {date} and {number}.

    Where the collection has tasks, `details` have the one whose topics are searched for.
    With an `hour` from 0 to 23, in UTC, a worker fetches a run every day.
    """

    engine: SearchEngine
    tag: str
    details: RunDetails = NO_DETAILS
    hour: int | None = None

    @property
    def noted(self) -> dict[str, object]:
        """What the audit log keeps."""
        engine = self.engine
        return {"host": engine.host, "dialect": engine.dialect.value, "nightly": self.hour is not None}


@dataclass(frozen=True)
class SourceView:
    """A source, how many runs came from it, what came of the last attempt, and when the next one is due.

    `refusal` is why it brings no run until it is changed: its task is not there any more, or it has none and needs one.
    """

    name: str
    settings: SourceSettings
    fetched: int
    tried_at: datetime | None
    problem: Sentence | None
    next_at: datetime | None
    set_by: str | None
    set_at: datetime
    refusal: Sentence | None = None


def set_source(
    session: Session,
    slug: str,
    name: str,
    settings: SourceSettings,
    access: EngineAccess,
    *,
    by_id: int | None,
    at: datetime,
    is_new: bool = False,
) -> None:
    """Save a source, with `is_new` only if there is none of that name; its runs stay with it.

    Raises `InvalidValueError` for a malformed name, tag, hour or engine, for invalid details and without a task in a
    collection with tasks, `NotFoundError` for an unknown task, `NotAllowedError` for a host that no administrator has
    named, and `ConflictError` for a closed collection and for too many sources.
    """
    _check_settings(name, settings, access)
    engine, details = settings.engine, settings.details
    collection = lock_open_collection(session, slug)
    source = stored_source(session, collection.id, name)
    _check_task(session, collection.id, details.task)
    if source is not None and is_new:
        raise ConflictError("There is a source “%(name)s” already.", name=name)
    team_id = find_or_add_team(session, collection.id, details.team).id if details.team else None
    if source is None:
        if len(run_sources(session, collection.id)) >= MOST_SOURCES:
            raise ConflictError("A collection has at most %(most)d sources of runs.", most=MOST_SOURCES)
        source = RunSource(collection_id=collection.id, name=name)
        session.add(source)
    source.endpoint, source.query, source.dialect = engine.endpoint, engine.query, engine.dialect.value
    source.paths, source.depth, source.with_texts = asdict(engine.paths), engine.depth, engine.with_texts
    source.tag, source.description = settings.tag, details.description or ""
    source.run_type, source.priority = details.run_type or RunType.UNKNOWN, details.priority or 1
    source.team_id, source.task = team_id, details.task
    source.hour, source.due_at = settings.hour, None if settings.hour is None else next_at(settings.hour, at)
    source.set_by_id, source.set_at = by_id, at
    session.flush()


def list_sources(session: Session, slug: str) -> list[SourceView]:
    """The sources of a collection, by name."""
    collection_id = find_collection(session, slug).id
    keys = [task.key for task in tasks_of(session, collection_id)]
    return [_view(*row, keys) for row in run_sources(session, collection_id)]


def show_source(session: Session, slug: str, name: str) -> SourceView:
    """One source; raises `NotFoundError` for an unknown name."""
    found = next((one for one in list_sources(session, slug) if one.name == name), None)
    if found is None:
        raise _unknown(name)
    return found


def sources_of_task(session: Session, slug: str, key: str) -> list[str]:
    """The names of the sources that fetch runs of this task."""
    return [one.name for one in list_sources(session, slug) if one.settings.details.task == key]


def remove_source(session: Session, slug: str, name: str) -> None:
    """Remove a source; its runs stay. Raises `NotFoundError` for an unknown name, `ConflictError` when closed."""
    collection = lock_open_collection(session, slug)
    delete_run_source(session, _found(session, collection.id, name).id)


def _order(session: Session, slug: str, name: str, *, at: datetime) -> RunOrder:
    """The run that a source brings at this time.

    A run of the source that has the tag already is replaced, unless it was withdrawn or its round is closed; raises
    `ConflictError` then and when the source brings no run until it is changed, and `NotFoundError` for an unknown name.
    """
    collection = find_collection(session, slug)
    source = _found(session, collection.id, name)
    view = show_source(session, slug, name)
    if view.refusal is not None:
        raise ConflictError(view.refusal.template, **view.refusal.values)
    settings = view.settings
    tag = tag_of(source.tag, at, source.fetched + 1)
    # The run that is there may have other forms of the same letters.
    tag = sorted_tags(session, collection.id, Sender(settings.details.team, organises=True)).stored(tag)
    return RunOrder(
        settings.engine,
        tag,
        settings.details,
        replaces=_is_replaced(session, collection.id, source.id, tag),
        source_id=source.id,
    )


def check_source(session: Session, slug: str, name: str, access: EngineAccess, *, at: datetime) -> None:
    """Raise for what would refuse the run of a source at this time, before a worker is asked; nothing is sent."""
    check_order(session, slug, _order(session, slug, name, at=at), access)


def fetch_from_source(
    database: Database,
    slug: str,
    name: str,
    access: EngineAccess,
    *,
    actor: Actor,
    at: datetime,
    noted_at: datetime,
    unpacked_limit: int,
    by_itself: bool = False,
    progress: Progress | None = None,
) -> FetchedRun:
    """Fetch a run from a source, or record with the source why nothing came.

    Raises `NotFoundError` for an unknown name, `ConflictError` when the tag is that of a run of the source that was
    withdrawn or whose round is closed, and as `fetch_run`; with `by_itself`, at the hour of the source and for nobody,
    also `ConflictError` after the deadline for runs.
    """
    source_id = database.read(_source_id, slug, name)
    try:
        with database.reading() as session:
            if by_itself:
                refuse_after_deadline(session, slug, at=at)
            order = _order(session, slug, name, at=at)
        return fetch_run(
            database,
            slug,
            order,
            access,
            actor=actor,
            at=at,
            noted_at=noted_at,
            unpacked_limit=unpacked_limit,
            progress=progress,
        )
    except BusyError:
        raise  # it is tried again
    except AnnotatorError as error:
        # In a worker this transaction must not end the job.
        with database.preparing().transaction() as session:
            note_problem(session, source_id, _storable(_reason(error)), at=at)
        raise


def tag_of(template: str, at: datetime, number: int) -> str:
    """The tag of a run that is fetched at this time, the one with this number of its source."""
    values = {"date": at.date().isoformat(), "number": str(number)}
    return IN_TAG.sub(lambda found: values[found[1]], template)


def _check_settings(name: str, settings: SourceSettings, access: EngineAccess) -> None:
    if not NAME.fullmatch(name):
        raise InvalidValueError(
            "“%(name)s” is no name of a source: up to 64 small letters, digits, “-”, “_” and “.”, beginning with a "
            "letter or a digit.",
            name=name,
        )
    if "{" in IN_TAG.sub("", settings.tag) or "}" in IN_TAG.sub("", settings.tag):
        raise InvalidValueError("The tag of a source has no other braces than {date} and {number}.")
    tried = tag_of(settings.tag, LATEST, MOST_RUNS)
    malformed = refusal_of_any(tried) if tried else Sentence("A source needs the tag of its runs.")
    if malformed is not None:
        raise InvalidValueError(malformed.template, **malformed.values)
    if settings.hour is not None and settings.hour not in HOURS:
        raise InvalidValueError("An hour is a whole number from 0 to 23, not %(given)d.", given=settings.hour)
    check_address(settings.engine.check(), access.hosts)
    check_details(settings.details)


def _check_task(session: Session, collection_id: int, key: str | None) -> None:
    if key is not None:
        find_task(session, collection_id, key)
    elif keys := [task.key for task in tasks_of(session, collection_id)]:
        raise InvalidValueError("Name the task of this source. There are: %(keys)s.", keys=", ".join(keys))


def _found(session: Session, collection_id: int, name: str) -> RunSource:
    source = stored_source(session, collection_id, name)
    if source is None:
        raise _unknown(name)
    return source


def _source_id(session: Session, slug: str, name: str) -> int:
    return _found(session, find_collection(session, slug).id, name).id


def _unknown(name: str) -> NotFoundError:
    return NotFoundError("There is no source of runs “%(name)s” in this collection.", name=name)


def _is_replaced(session: Session, collection_id: int, source_id: int, tag: str) -> bool:
    """Whether the current run with that tag came from the source, and may be replaced by it."""
    current = next((one for one in sent_runs(session, collection_id, tag) if one.state != RunState.REPLACED), None)
    if current is None or current.id not in {run.id for run in runs_from_source(session, source_id)}:
        return False
    if current.state == RunState.WITHDRAWN:
        raise ConflictError("The run %(tag)s of this source was withdrawn. Restore it, or change the tag.", tag=tag)
    if current.in_closed_round:
        raise ConflictError(
            "The run %(tag)s of this source is of a round that is closed. Change the tag: with {date} or {number} each "
            "run has its own.",
            tag=tag,
        )
    return True


def _refusal(task: str | None, keys: Sequence[str]) -> Sentence | None:
    """Why a source with this task brings no run in a collection with tasks of these keys, if so."""
    if task is None and keys:
        return Sentence(
            "This collection has tasks, and this source has none: it brings no run until you choose its task."
        )
    if task is None or task in keys:
        return None
    if keys:
        return Sentence(
            "The task “%(task)s” of this source was removed: it brings no run until you choose another task.",
            {"task": task},
        )
    return Sentence(
        "The task “%(task)s” of this source was removed, as were all others: it brings no run until you save it again, "
        "without a task.",
        {"task": task},
    )


def _view(source: RunSource, team: str | None, set_by: str | None, keys: Sequence[str]) -> SourceView:
    engine = SearchEngine(
        source.endpoint,
        source.query,
        Dialect(source.dialect),
        HitPaths(**source.paths),
        source.depth,
        with_texts=source.with_texts,
    )
    details = RunDetails(
        team, source.description or None, RunType(source.run_type) or None, source.priority, task=source.task
    )
    problem = _restored({"template": source.problem, "values": source.problem_values}) if source.problem else None
    settings = SourceSettings(engine, source.tag, details, source.hour)
    return SourceView(
        source.name,
        settings,
        source.fetched,
        source.tried_at,
        problem,
        source.due_at,
        set_by,
        source.set_at,
        _refusal(source.task, keys),
    )


def _reason(error: AnnotatorError) -> Sentence:
    """What is shown of a failure: of a refused run its first problem."""
    if isinstance(error, FileRefusedError) and error.problems:
        return error.problems[0].sentence
    return error.sentence


def _storable(sentence: Sentence) -> Sentence:
    """The sentence with values that JSON has; sentences within are kept as such."""
    values: dict[str, object] = {}
    for name, value in sentence.values.items():
        if isinstance(value, Sentence):
            inner = _storable(value)
            values[name] = {"template": inner.template, "values": dict(inner.values)}
        else:
            values[name] = value if isinstance(value, int | float | str) else str(value)
    return Sentence(sentence.template, values)


def _restored(stored: Mapping[str, Any]) -> Sentence:
    values = {name: _restored(value) if isinstance(value, dict) else value for name, value in stored["values"].items()}
    return Sentence(**{**stored, "values": values})
