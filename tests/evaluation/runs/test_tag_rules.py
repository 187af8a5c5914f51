"""The rule for tags of teams: which tags it refuses, and which rules cannot be."""

import unicodedata
from typing import Literal

import pytest

from annotator.errors import InvalidValueError
from annotator.evaluation.runs.run_intake import tag_of
from annotator.evaluation.runs.run_tags import NO_RULES, Sender, SortedTags, TagHolder, TeamRules, sort_tags
from annotator.evaluation.runs.tag_rules import ANY_TAG, TagRule, check_tag_rule

Form = Literal["NFC", "NFD"]
RULE = TagRule("{team}-", 20, plain=True)


@pytest.mark.parametrize(
    ("rule", "team", "start"),
    [
        (RULE, "red", "red-"),
        (RULE, "Red Team", "Red_Team-"),
        (RULE, "서울 팀", "____-"),
        (TagRule("{team}-"), "서울 팀", "서울_팀-"),
        (RULE, "University of Somewhere", "University_of_S-"),
        (TagRule("T1_{team}_", 20), "red", "T1_red_"),
        (TagRule("x", 20), "red", "x"),
        (ANY_TAG, "red", ""),
    ],
)
def test_a_rule_has_the_name_of_the_team_as_tags_can_have_it(rule: TagRule, team: str, start: str) -> None:
    of_team = rule.of_team(team)
    assert of_team.start == start
    assert of_team.refusal(of_team.example()) is None
    assert len(of_team.example()) <= rule.most_characters


@pytest.mark.parametrize(
    ("tag", "sentence"),
    [
        ("alpha", "The tag alpha does not begin with “red-”, as tags of your team must. A right tag is “red-run1”."),
        ("Red-alpha", "The tag Red-alpha does not begin with “red-”"),
        ("red-é", "The tag red-é has other characters than letters from A to Z, a to z, digits, “.”, “_” and “-”."),
        ("red-a/b", "A right tag is “red-run1”."),
        ("red-" + "a" * 17, "has 21 characters, and may have 20. A right tag is “red-run1”."),
    ],
)
def test_another_tag_is_refused_with_the_rule_and_a_right_one(tag: str, sentence: str) -> None:
    assert sentence in str(RULE.of_team("red").refusal(tag))


@pytest.mark.parametrize("tag", ["red-1", "red-", "red-" + "a" * 16, "red-A.b_c-9"])
def test_a_tag_that_follows_the_rule_is_free(tag: str) -> None:
    assert RULE.of_team("red").refusal(tag) is None


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (TagRule("a b"), "“a b” cannot be the beginning of tags"),
        (TagRule("{name}-"), "“{name}-” cannot be the beginning of tags"),
        (TagRule("{team}{team}"), "cannot be the beginning of tags"),
        (TagRule("a\x1b"), "cannot be the beginning of tags"),
        (TagRule("é-", plain=True), "cannot be the beginning of tags"),
        (TagRule("a" * 125), "is too long for the beginning of tags"),
        (TagRule("a" * 5_000), "“" + "a" * 40 + "…” is too long for the beginning of tags"),
        (TagRule(most_characters=129), "The longest tag has 4 to 128 characters here, not 129."),
        (TagRule(most_characters=0), "The longest tag has 4 to 128 characters here, not 0."),
        (TagRule("{team}-", 5), "The longest tag has 6 to 128 characters here, not 5."),
    ],
)
def test_a_rule_that_cannot_be_is_refused(rule: TagRule, sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        check_tag_rule(rule)
    assert sentence in str(refused.value)


@pytest.mark.parametrize("rule", [ANY_TAG, RULE, TagRule("{team}-", 6), TagRule("é-"), TagRule("a" * 124)])
def test_a_rule_that_can_be_is_taken(rule: TagRule) -> None:
    check_tag_rule(rule)


def test_runs_that_are_withdrawn_of_closed_rounds_or_of_others_do_not_count() -> None:
    def holder(tag: str, team: str, *, withdrawn: bool = False, closed: bool = False) -> TagHolder:
        return TagHolder(tag, 1, team, "", withdrawn=withdrawn, withdrawn_by_team=withdrawn, in_closed_round=closed)

    holders = [
        holder("a", "red"),
        holder("b", "red", withdrawn=True),
        holder("c", "red", closed=True),
        holder("d", "blue"),
    ]
    rules = TeamRules(RULE.of_team("red"), 2)
    tags = sort_tags(Sender("red", organises=False), holders, rules)
    assert tags.active == 1
    assert tags.refusal_of_new(1) is None
    assert str(tags.refusal_of_new(2)).startswith("This would be active run 3 of your team in this round, and it")
    assert tags.refusal_of_restored() is None
    # What is there is not bound by the rule for tags; a tag that is another team's is refused by the rule first.
    assert "taken" not in str(tags.refusal("d"))
    assert "Tick “Replace runs" in str(tags.refusal("a"))
    assert sort_tags(Sender("red", organises=True), holders, rules).rules == NO_RULES


@pytest.mark.parametrize(
    ("active", "most", "sentence"),
    [
        (1, 1, "Your team has an active run and may have no other. Withdraw it before you restore this one."),
        (2, 2, "Your team has 2 active runs and may have 2. Withdraw another run before you restore this one."),
        (4, 2, "Your team has 4 active runs and may have 2. Withdraw 3 other runs before you restore this one."),
    ],
)
def test_a_team_that_cannot_restore_a_run_reads_how_many_must_go(active: int, most: int, sentence: str) -> None:
    assert str(SortedTags(active=active, rules=TeamRules(most_runs=most)).refusal_of_restored()) == sentence


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("other", ["NFC", "NFD"])
def test_a_tag_begins_with_the_name_of_its_team_whatever_form_their_letters_have(form: Form, other: Form) -> None:
    rule = TagRule("é{team}-", 8).of_team(unicodedata.normalize(form, "서울"))
    assert rule.start == "é서울-"
    assert rule.refusal(unicodedata.normalize(other, "é서울-run1")) is None
    assert tag_of(unicodedata.normalize(other, "é서울-run1.txt.gz")) == "é서울-run1"


def test_the_right_tag_of_a_sentence_is_not_in_use() -> None:
    rules = TeamRules(TagRule("{team}-", 8, plain=True).of_team("서울대"))
    holders = [
        TagHolder(f"___-run{number}", number, "고려대", "", withdrawn=False, withdrawn_by_team=False)
        for number in range(1, 10)
    ]
    tags = sort_tags(Sender("서울대", organises=False), holders[:1], rules)
    assert str(tags.refusal("run1")).endswith("A right tag is “___-run2”.")
    assert "taken" in str(tags.refusal("___-run1"))
    assert sort_tags(Sender("서울대", organises=False), holders, rules).example == "___-ru10"
