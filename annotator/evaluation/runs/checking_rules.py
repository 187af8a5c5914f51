"""The rules by which a collection checks runs, as a JSON document that programs elsewhere can apply."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from annotator.errors import InvalidValueError
from annotator.evaluation.formats.foreign_rows import query_key
from annotator.evaluation.runs.questionnaires import RunQuestion, as_plain, questions_of
from annotator.evaluation.runs.run_intake import PARTS_OF_ADDRESSES, RunRules
from annotator.evaluation.runs.run_tags import TagHolder, TeamRules
from annotator.evaluation.runs.run_tasks import TaskRules
from annotator.evaluation.runs.tag_rules import CHOSEN_LENGTH, GREATEST_TAG_LENGTH, TagRule, can_be_of_team

FORMAT = "annotator-run-rules"
VERSION = 1

Value = TypeVar("Value")


class ComparedWith(StrEnum):
    """What says which documents the corpus has."""

    LIST = "list"  # of valid docnos
    FOLDER = "folder"  # whose files have the documents
    TEXTS = "texts"  # that the collection has
    NOTHING = "nothing"


@dataclass(frozen=True)
class TopicRule:
    """A topic that a run may have; one that is not `wanted` may be left out."""

    number: str
    title: str
    wanted: bool


@dataclass(frozen=True)
class CheckingRules:
    """What a collection checks in the runs of one sender: a team, or the organisers.

    `runs` are those that the sender may know. `deadline` is in ISO 8601; None where there is none. The `of_team` rules
    have the name of the team, and restrict nothing for organisers. Where there are `tasks`, a run is checked by the
    topics, formats and limits of its task.
    """

    collection: str
    team: str | None
    organises: bool
    deadline: str | None
    most_documents: int
    compared_with: ComparedWith
    topics: tuple[TopicRule, ...]
    questionnaire: int
    questions: tuple[RunQuestion, ...]
    runs: tuple[TagHolder, ...]
    of_team: TeamRules
    tasks: tuple[TaskRules, ...] = ()
    scores_released: bool = False

    def for_intake(self, *, unpacked_limit: int, tag_from_file: bool) -> RunRules:
        """The rules as files are read by them."""
        return RunRules(
            topics=frozenset(topic.number for topic in self.topics),
            wanted_topics=frozenset(topic.number for topic in self.topics if topic.wanted),
            most_documents=self.most_documents,
            unpacked_limit=unpacked_limit,
            tag_from_file=tag_from_file,
            titles={query_key(topic.title): topic.number for topic in self.topics},
            tasks={task.key: task for task in self.tasks},
        )


def rules_as_plain(rules: CheckingRules, formats: Sequence[str]) -> dict[str, Any]:
    """The document, whose fields `docs/reference/run-rules.md` describes; `formats` are the names of those of runs."""
    in_order = [topic.number for topic in rules.topics]
    return {
        "format": FORMAT,
        "version": VERSION,
        "collection": rules.collection,
        "sender": {"team": rules.team, "organises": rules.organises},
        "deadline": rules.deadline,
        "formats": list(formats),
        "tags": {
            "start": rules.of_team.tags.start,
            "most_characters": rules.of_team.tags.most_characters,
            "plain": rules.of_team.tags.plain,
            "not_at_the_end": list(PARTS_OF_ADDRESSES),
        },
        "most_runs": rules.of_team.most_runs or None,
        "documents": {"most_per_topic": rules.most_documents, "compared_with": rules.compared_with.value},
        "topics": [{"number": topic.number, "title": topic.title, "wanted": topic.wanted} for topic in rules.topics],
        "questionnaire": {"number": rules.questionnaire, "questions": as_plain(rules.questions)},
        **({"tasks": [_task_as_plain(task, in_order, formats) for task in rules.tasks]} if rules.tasks else {}),
        **({"scores_released": rules.scores_released} if rules.tasks else {}),
        "runs": [
            {
                "tag": run.tag,
                "team": run.team,
                "sha256": run.checksum,
                "withdrawn": run.withdrawn,
                "withdrawn_by_team": run.withdrawn_by_team,
                "in_closed_round": run.in_closed_round,
                **({"task": run.task} if rules.tasks else {}),
            }
            for run in rules.runs
        ],
    }


def _task_as_plain(task: TaskRules, topics: Sequence[str], formats: Sequence[str]) -> dict[str, Any]:
    return {
        "key": task.key,
        "title": task.title,
        "topics": [number for number in topics if number in task.topics],
        "formats": list(task.formats or formats),
        "most_per_topic": task.most_documents,
        "most_runs": task.most_runs or None,
    }


def read_rules(text: str) -> CheckingRules:
    """The rules of a document; fields that this version does not know are not read.

    Raises `InvalidValueError` for a text that is no such document, names the field that is wrong, and refuses a version
    that came after this one.
    """
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidValueError("The rules are not JSON: %(reason)s.", reason=str(error)) from error
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise InvalidValueError("This is not a document of rules for runs: its format is not “%(name)s”.", name=FORMAT)
    version = _field(plain, "version", int)
    if version != VERSION:
        raise InvalidValueError(
            "The rules have version %(version)d, and this program reads version %(known)d.",
            version=version,
            known=VERSION,
        )
    return _rules(plain)


def _rules(plain: Mapping[str, Any]) -> CheckingRules:
    sender, documents = _field(plain, "sender", dict), _field(plain, "documents", dict)
    questionnaire = _field(plain, "questionnaire", dict)
    compared_with = _field(documents, "compared_with", str, "documents.")
    if compared_with not in set(ComparedWith):
        raise _wrong("documents.compared_with")
    most_documents = _field(documents, "most_per_topic", int, "documents.")
    if most_documents < 1:
        raise _wrong("documents.most_per_topic")
    collection = _field(plain, "collection", str)
    if not collection.isprintable():  # it is printed at a terminal
        raise _wrong("collection")
    topics = tuple(_topic(place, one) for place, one in _objects(plain, "topics"))
    return CheckingRules(
        collection=collection,
        team=_text_or_none(sender, "team", "sender."),
        organises=_field(sender, "organises", bool, "sender."),
        deadline=_text_or_none(plain, "deadline"),
        most_documents=most_documents,
        compared_with=ComparedWith(compared_with),
        topics=topics,
        questionnaire=_field(questionnaire, "number", int, "questionnaire."),
        questions=questions_of(_field(questionnaire, "questions", list, "questionnaire.")),
        runs=tuple(_holder(number, place, one) for number, (place, one) in enumerate(_objects(plain, "runs"), 1)),
        of_team=TeamRules(_tag_rule(plain), _most_runs(plain)),
        # Documents of earlier versions of the program, and of collections without tasks, have none.
        tasks=tuple(_task(place, one, topics) for place, one in _objects({"tasks": [], **plain}, "tasks")),
        scores_released=_field({"scores_released": False, **plain}, "scores_released", bool),
    )


def _task(place: str, one: Mapping[str, Any], topics: Sequence[TopicRule]) -> TaskRules:
    key, title = _field(one, "key", str, place), _field(one, "title", str, place)
    if not key or not key.isprintable():  # it is printed at a terminal
        raise _wrong(f"{place}key")
    most_documents = _field(one, "most_per_topic", int, place)
    if most_documents < 1:
        raise _wrong(f"{place}most_per_topic")
    own = frozenset(_texts(one, "topics", place))
    return TaskRules(
        key=key,
        title=title,
        topics=own & {topic.number for topic in topics},
        wanted_topics=own & {topic.number for topic in topics if topic.wanted},
        formats=tuple(_texts(one, "formats", place)),
        most_documents=most_documents,
        most_runs=_most_runs(one, place),
    )


def _texts(one: Mapping[str, Any], name: str, place: str) -> list[str]:
    texts = _field(one, name, list, place)
    if not all(isinstance(text, str) for text in texts):
        raise _wrong(f"{place}{name}")
    return texts


def _tag_rule(plain: Mapping[str, Any]) -> TagRule:
    """The rule for tags; documents of earlier versions of the program have none of its fields but the length."""
    tags = _field({"tags": {}, **plain}, "tags", dict)
    tags = {"start": "", "most_characters": GREATEST_TAG_LENGTH, "plain": False, **tags}
    most = _field(tags, "most_characters", int, "tags.")
    if not CHOSEN_LENGTH <= most <= GREATEST_TAG_LENGTH:
        raise _wrong("tags.most_characters")
    rule = TagRule(_field(tags, "start", str, "tags."), most, _field(tags, "plain", bool, "tags."))
    if not can_be_of_team(rule):  # and it is printed at a terminal
        raise _wrong("tags.start")
    return rule


def _most_runs(plain: Mapping[str, Any], place: str = "") -> int:
    if plain.get("most_runs") is None:
        return 0
    most = _field(plain, "most_runs", int, place)
    if most < 1:
        raise _wrong(f"{place}most_runs")
    return most


def _topic(place: str, one: Mapping[str, Any]) -> TopicRule:
    return TopicRule(
        _field(one, "number", str, place), _field(one, "title", str, place), _field(one, "wanted", bool, place)
    )


def _holder(number: int, place: str, one: Mapping[str, Any]) -> TagHolder:
    return TagHolder(
        tag=_field(one, "tag", str, place),
        run_id=number,
        team=_text_or_none(one, "team", place),
        checksum=_field(one, "sha256", str, place),
        withdrawn=_field(one, "withdrawn", bool, place),
        withdrawn_by_team=_field(one, "withdrawn_by_team", bool, place),
        in_closed_round=_field(one, "in_closed_round", bool, place),
        task=_text_or_none(one, "task", place),
    )


def _objects(plain: Mapping[str, Any], name: str) -> list[tuple[str, Mapping[str, Any]]]:
    """The objects of a list, each with the beginning of the names of its fields."""
    found = [(f"{name}[{number}].", one) for number, one in enumerate(_field(plain, name, list))]
    for place, one in found:
        if not isinstance(one, dict):
            raise _wrong(place.removesuffix("."))
    return found


def _field(plain: Mapping[str, Any], name: str, kind: type[Value], place: str = "") -> Value:
    value = plain.get(name)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _wrong(f"{place}{name}")
    return value


def _text_or_none(plain: Mapping[str, Any], name: str, place: str = "") -> str | None:
    return None if plain.get(name) is None else _field(plain, name, str, place)


def _wrong(name: str) -> InvalidValueError:
    return InvalidValueError("The field “%(name)s” of the rules is missing, or has a wrong value.", name=name)
