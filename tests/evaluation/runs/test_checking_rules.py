"""The document of rules for runs: written, read again, and what is refused."""

import json
from typing import Any

import pytest

from annotator.errors import InvalidValueError
from annotator.evaluation.runs.checking_rules import (
    CheckingRules,
    ComparedWith,
    TopicRule,
    read_rules,
    rules_as_plain,
)
from annotator.evaluation.runs.questionnaires import AnswerKind, RunQuestion
from annotator.evaluation.runs.run_tags import NO_RULES, TagHolder, TeamRules
from annotator.evaluation.runs.tag_rules import TagRule

RULES = CheckingRules(
    collection="news",
    team="red",
    organises=False,
    deadline="2027-03-01T09:00:00+00:00",
    most_documents=1000,
    compared_with=ComparedWith.LIST,
    topics=(TopicRule("1", "First  Topic", wanted=True), TopicRule("2", "second", wanted=False)),
    questionnaire=3,
    questions=(RunQuestion("trained", "Was it trained?", AnswerKind.YES_NO, required=True),),
    of_team=TeamRules(TagRule("red-", 20, plain=True), 3),
    runs=(TagHolder("alpha", 1, "red", "ab", withdrawn=True, withdrawn_by_team=False, in_closed_round=True),),
)


def plain() -> dict[str, Any]:
    return rules_as_plain(RULES, ["trec", "json"])


def test_a_document_is_read_as_it_was_written_whatever_else_it_has() -> None:
    assert read_rules(json.dumps(plain())) == RULES
    assert read_rules(json.dumps({**plain(), "new": 1})) == RULES
    assert plain()["formats"] == ["trec", "json"]


def test_documents_from_before_the_rules_for_teams_have_none() -> None:
    document = plain()
    del document["most_runs"]
    document["tags"] = {"most_characters": 128, "not_at_the_end": []}
    assert read_rules(json.dumps(document)).of_team == NO_RULES
    del document["tags"]
    assert read_rules(json.dumps(document)).of_team == NO_RULES


def test_files_are_read_by_its_topics() -> None:
    rules = RULES.for_intake(unpacked_limit=10, tag_from_file=True)
    assert (rules.topics, rules.wanted_topics) == (frozenset("12"), frozenset("1"))
    assert rules.titles == {"first topic": "1", "second": "2"}
    assert (rules.most_documents, rules.unpacked_limit, rules.tag_from_file) == (1000, 10, True)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("{", "The rules are not JSON"),
        ("[" * 100_000, "The rules are not JSON"),
        ("[]", "This is not a document of rules for runs"),
        ('{"format": "annotator archive"}', "This is not a document of rules for runs"),
        ('{"format": "annotator-run-rules"}', "“version” of the rules is missing"),
        ('{"format": "annotator-run-rules", "version": true}', "“version” of the rules is missing"),
        ('{"format": "annotator-run-rules", "version": 2}', "have version 2, and this program reads version 1"),
    ],
)
def test_another_text_is_refused(text: str, wrong: str) -> None:
    with pytest.raises(InvalidValueError, match=wrong):
        read_rules(text)


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"collection": 1}, "collection"),
        ({"deadline": 1}, "deadline"),
        ({"sender": []}, "sender"),
        ({"sender": {"team": "red"}}, "sender.organises"),
        ({"documents": {"most_per_topic": "x", "compared_with": "list"}}, "documents.most_per_topic"),
        ({"documents": {"most_per_topic": 1, "compared_with": "all"}}, "documents.compared_with"),
        ({"topics": {}}, "topics"),
        ({"tags": "red-"}, "tags"),
        ({"tags": {"start": 1}}, "tags.start"),
        ({"tags": {"start": "a\x1b["}}, "tags.start"),
        ({"tags": {"start": "a b"}}, "tags.start"),
        ({"tags": {"start": "é", "plain": True}}, "tags.start"),
        ({"tags": {"start": "red-", "most_characters": 7}}, "tags.start"),
        ({"tags": {"most_characters": 3}}, "tags.most_characters"),
        ({"tags": {"most_characters": 0}}, "tags.most_characters"),
        ({"tags": {"most_characters": 129}}, "tags.most_characters"),
        ({"tags": {"plain": 1}}, "tags.plain"),
        ({"most_runs": 0}, "most_runs"),
        ({"most_runs": "3"}, "most_runs"),
        ({"topics": ["1"]}, r"topics\[0\]"),
        ({"topics": [{"number": "1", "title": "t", "wanted": True}, {"number": 2}]}, r"topics\[1\].number"),
        ({"questionnaire": {"number": 1, "questions": None}}, "questionnaire.questions"),
        ({"runs": [{"tag": "a", "team": None}]}, r"runs\[0\].sha256"),
    ],
)
def test_a_field_that_cannot_be_read_is_named(changed: dict[str, object], wrong: str) -> None:
    with pytest.raises(InvalidValueError, match=f"The field “{wrong}” of the rules is missing, or has a wrong value"):
        read_rules(json.dumps({**plain(), **changed}))


@pytest.mark.parametrize("most", [0, -1, -5])
def test_a_number_of_documents_that_cannot_be_is_refused(most: int) -> None:
    document = plain()
    document["documents"]["most_per_topic"] = most
    with pytest.raises(InvalidValueError, match=r"documents\.most_per_topic"):
        read_rules(json.dumps(document))


def test_a_name_with_control_characters_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="collection"):
        read_rules(json.dumps({**plain(), "collection": "news\x1b]0;title\x07"}))
