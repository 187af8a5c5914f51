"""The rules by which a collection checks the runs of a sender, for the check and as a document."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotAllowedError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.formats.input_formats import Holds
from annotator.evaluation.runs.checking_rules import CheckingRules, ComparedWith, TopicRule, rules_as_plain
from annotator.evaluation.runs.run_tags import (
    NO_RULES,
    Sender,
    SortedTags,
    TagHolder,
    TeamRules,
    sort_tags,
)
from annotator.evaluation.runs.tag_rules import TagRule, shared_starts
from annotator.storage import ACCEPTED, Collection, PoolItem, Round, Run, Team, Topic, TopicState
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.documents.docno_lists import stored_list
from annotator.storage.documents.documents import has_texts
from annotator.storage.documents.sources import find_source
from annotator.storage.runs.sent_runs import SentRun, sent_runs
from annotator.storage.tables.runs import RunState
from annotator.workflows.documents.source_folders import index_of
from annotator.workflows.runs.questionnaires import show_questionnaire
from annotator.workflows.runs.tasks import most_runs_of, task_rules
from annotator.workflows.site.input_sources import FORMAT_NAMES


def show_rules(session: Session, slug: str, sender: Sender) -> CheckingRules:
    """What is checked in runs of this sender; of the runs in use, participants see those of their team."""
    collection = find_collection(session, slug)
    asked = show_questionnaire(session, slug)
    titles, wanted = _titles(session, collection.id), topic_ids(session, collection.id, ACCEPTED)
    numbers = topics_for(session, collection.id, sender)
    until = collection.submissions_until
    return CheckingRules(
        collection=collection.slug,
        team=sender.team,
        organises=sender.organises,
        deadline=None if until is None else until.isoformat(),
        most_documents=collection.most_documents,
        compared_with=_compared_with(session, collection.id),
        topics=tuple(
            TopicRule(number, titles[number], number in wanted) for number in sorted(numbers, key=natural_order)
        ),
        questionnaire=asked.number,
        questions=asked.questions,
        runs=tuple(one for one in tag_holders(session, collection.id) if sender.organises or one.team == sender.team),
        of_team=team_rules(collection, sender),
        tasks=tuple(task_rules(session, collection, numbers, wanted).values()),
        scores_released=collection.scores_released_at is not None,
    )


def rules_document(session: Session, slug: str, sender: Sender) -> dict[str, Any]:
    """The rules as a document for programs."""
    return rules_as_plain(show_rules(session, slug, sender), FORMAT_NAMES[Holds.RUNS])


def rules_file(session: Session, slug: str, sender: Sender) -> bytes:
    """The document as a file, whose bytes differ by sender and with each upload."""
    return (json.dumps(rules_document(session, slug, sender), ensure_ascii=False, indent=2) + "\n").encode()


def topics_for(session: Session, collection_id: int, sender: Sender) -> Mapping[str, int]:
    """Topic number → row id of the topics that the sender's runs may answer.

    For participants these are accepted topics and those that were dropped after they were pooled: of others they do not
    know that they exist.
    """
    if sender.organises:
        return topic_ids(session, collection_id)
    is_pooled = select(PoolItem.id).where(PoolItem.topic_id == Topic.id).correlate(Topic).exists()
    return topic_ids(session, collection_id, ACCEPTED | ((Topic.state == TopicState.DROPPED) & is_pooled))


def tag_holders(session: Session, collection_id: int) -> list[TagHolder]:
    """The current run with each tag in use."""
    return _holders(sent_runs(session, collection_id))


def _holders(sent: Iterable[SentRun]) -> list[TagHolder]:
    return [
        TagHolder(
            tag=run.tag,
            run_id=run.id,
            team=run.team,
            checksum=run.checksum,
            withdrawn=run.state == RunState.WITHDRAWN,
            withdrawn_by_team=run.withdrawn_by_team,
            in_closed_round=run.in_closed_round,
            task=run.task,
        )
        for run in sent
        if run.state != RunState.REPLACED
    ]


def sorted_tags(session: Session, collection_id: int, sender: Sender) -> SortedTags:
    """What the sender may currently do with each tag in use."""
    collection = session.get_one(Collection, collection_id)
    is_released = collection.scores_released_at is not None
    holders = tag_holders(session, collection_id)
    return sort_tags(sender, holders, team_rules(collection, sender), scores_released=is_released)


def own_rules(session: Session, slug: str, sender: Sender, sent: Iterable[SentRun]) -> SortedTags:
    """The rules for runs of the sender's team, and how many active runs it has of those that are given."""
    return sort_tags(sender, _holders(sent), team_rules(find_collection(session, slug), sender))


def refuse_to_restore(session: Session, run: Run, team: str) -> None:
    """Raise when a team cannot have its withdrawn run again.

    Raises `NotAllowedError` for a run of a closed round, whose runs a team cannot correct either, and `ConflictError`
    when the team has as many active runs as it may have: of the run's task, or of those from before the tasks.
    """
    if is_of_closed_round(session, run):
        raise NotAllowedError(
            "The run “%(tag)s” is of a round that is closed. Only the organisers can restore it.", tag=run.tag
        )
    tags = sorted_tags(session, run.collection_id, Sender(team, organises=False))
    of_task = most_runs_of(session, run)
    refusal = (tags.without_task() if of_task is None else tags.for_task(*of_task)).refusal_of_restored()
    if refusal is not None:
        raise ConflictError(refusal.template, **refusal.values)


def is_of_closed_round(session: Session, run: Run) -> bool:
    """Whether the round of a run is closed."""
    return run.round_id is not None and session.get_one(Round, run.round_id).closed_at is not None


def team_rules(collection: Collection, sender: Sender) -> TeamRules:
    """The rules for runs of the sender's team, with its name; organisers are not bound by any."""
    if sender.organises:
        return NO_RULES
    return TeamRules(_tag_rule(collection).of_team(sender.team), collection.most_runs)


def _tag_rule(collection: Collection) -> TagRule:
    return TagRule(collection.tag_start, collection.most_tag_characters, collection.plain_tags)


def teams_with_one_start(session: Session, slug: str) -> dict[str, list[str]]:
    """The teams whose tags begin alike by the rule of the collection, by that beginning; none without {team} in it."""
    collection = find_collection(session, slug)
    teams = session.scalars(select(Team.name).where(Team.collection_id == collection.id))
    return shared_starts(_tag_rule(collection), teams)


def _titles(session: Session, collection_id: int) -> dict[str, str]:
    rows = session.execute(select(Topic.number, Topic.title).where(Topic.collection_id == collection_id))
    return {number: title for number, title in rows}


def _compared_with(session: Session, collection_id: int) -> ComparedWith:
    if stored_list(session, collection_id) is not None:
        return ComparedWith.LIST
    source = find_source(session, collection_id)
    if source is not None:
        return ComparedWith.NOTHING if index_of(source) is None else ComparedWith.FOLDER
    return ComparedWith.TEXTS if has_texts(session, collection_id) else ComparedWith.NOTHING
