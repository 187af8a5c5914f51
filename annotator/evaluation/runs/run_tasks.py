"""The tasks of a collection as runs are checked for them: the topics, formats and limits of each."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotator.errors import InvalidValueError, Sentence
from annotator.evaluation.runs.run_tags import SortedTags


@dataclass(frozen=True)
class TaskRules:
    """The rules for runs of a task: permitted and expected topics, formats, and limits.

    Without `formats` a run may have any; 0 as the most runs of a team in a round is no limit.
    """

    key: str
    title: str
    topics: frozenset[str]
    wanted_topics: frozenset[str]
    formats: tuple[str, ...]
    most_documents: int
    most_runs: int

    def refusal_of_format(self, read_as: str) -> Sentence | None:
        """Return why a run that was read in this format cannot be sent to the task, if so."""
        if not self.formats or read_as in self.formats:
            return None
        return Sentence(
            "The task %(task)s takes runs in these formats: %(formats)s. This file was read as %(format)s.",
            {"task": self.key, "formats": ", ".join(self.formats), "format": read_as},
        )

    @property
    def unknown_topic(self) -> Sentence:
        """The problem of a topic that the task does not have; the topic is to be added."""
        return Sentence("The task %(task)s has no topic %(topic)s.", {"task": self.key})


def choose_task(tasks: Mapping[str, TaskRules], named: str | None, tag: str, tags: SortedTags) -> TaskRules | None:
    """The task of a run with this tag, of these tasks by key; a run that replaces another is of the same task.

    One that replaces a run from before the tasks may name a task, which that run then gets: see `SortedTags.joins`.
    None in a collection without tasks, and for a run that names none and replaces one from before they were set. Raises
    `InvalidValueError` for a new run that names none, for an unknown task, for another task than that of the run which
    is replaced, and for a task that this run would get where scores are released.
    """
    if tag in tags.corrected:
        own = tags.tasks.get(tag)
        if own is not None and named not in {None, own}:
            raise InvalidValueError(
                "The run %(tag)s is of the task %(own)s, and so is a file that replaces it. Do not send it to the task "
                "%(task)s.",
                tag=tag,
                own=own,
                task=named,
            )
        named = own or named
        if named is None:
            return None
        task = _known(tasks, named)
        if own is None and tags.scores_released:
            raise _changes_scores(tag, named, by_organiser=not tags.is_bound)
        return task
    return _known(tasks, named)


def _known(tasks: Mapping[str, TaskRules], named: str | None) -> TaskRules | None:
    """The task of this key; None without tasks and without a key. Raises `InvalidValueError` as `choose_task`."""
    if not tasks:
        if named is None:
            return None
        raise InvalidValueError("There is no task “%(key)s”: this collection has no tasks.", key=named)
    keys = ", ".join(tasks)
    if named is None:
        raise InvalidValueError("Name the task of this run. There are: %(keys)s.", keys=keys)
    if named not in tasks:
        raise InvalidValueError("There is no task “%(key)s”. There are: %(keys)s.", key=named, keys=keys)
    return tasks[named]


def _changes_scores(tag: str, task: str, *, by_organiser: bool) -> InvalidValueError:
    """The error for a task that a run would get where scores are released, with what to do instead."""
    if by_organiser:
        return InvalidValueError(
            "Scores are released, and would change if this file gave the run %(tag)s the task %(task)s: give the run "
            "%(tag)s the task %(task)s on its page first.",
            tag=tag,
            task=task,
        )
    return InvalidValueError(
        "Scores are released, and would change if this file gave the run %(tag)s the task %(task)s. Send it without a "
        "task; the organisers can give the run its task, after they confirm it.",
        tag=tag,
        task=task,
    )
