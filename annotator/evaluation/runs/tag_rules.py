"""The rule for tags of runs that teams send: how they begin, which characters they have, and how many."""

import re
import unicodedata
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace

from annotator.errors import InvalidValueError, Sentence

GREATEST_TAG_LENGTH = 128
GREATEST_MOST_RUNS = 1_000
TEAM = "{team}"
# The characters that are left to the team, however long its name is, so that its runs have different tags.
CHOSEN_LENGTH = 4
EXAMPLE_END = "run"
MOST_SHOWN = 40
OTHER_THAN_PLAIN = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True)
class TagRule:
    """How tags begin, where {team} is the team's name, their greatest length, and whether they have plain characters.

    Plain are the letters A to Z and a to z, digits, full stops, underscores and hyphens.
    """

    start: str = ""
    most_characters: int = GREATEST_TAG_LENGTH
    plain: bool = False

    def of_team(self, team: str | None) -> "TagRule":
        """The rule with the name of a team.

        In the name, characters that a tag cannot have become underscores, and a long one is cut. Letters are composed
        (NFC), whatever form their accents or syllables had.
        """
        start = composed(self.start)
        name = "".join(
            "_" if one.isspace() or (self.plain and OTHER_THAN_PLAIN.match(one)) else one
            for one in composed(team or "")
        )
        room = self.most_characters - CHOSEN_LENGTH - len(_literal(start))
        return replace(self, start=start.replace(TEAM, name[:room]))

    def example(self, taken: Container[str] = ()) -> str:
        """A tag that follows the rule of a team and is not taken."""
        numbers = map(str, range(1, 10**CHOSEN_LENGTH))
        tags = (self.start + EXAMPLE_END[: CHOSEN_LENGTH - len(number)] + number for number in numbers)
        return next((tag for tag in tags if tag not in taken), self.start + EXAMPLE_END + "1")

    @property
    def restricts(self) -> bool:
        """Whether any tag breaks it that could be the tag of a run otherwise."""
        return self != ANY_TAG

    def refusal(self, tag: str, taken: Container[str] = ()) -> Sentence | None:
        """Return why a team cannot give a run this tag, if so, with a right one that is not taken."""
        if self == ANY_TAG:
            return None
        values: dict[str, object] = {"tag": tag, "example": self.example(taken)}
        if not composed(tag).startswith(self.start):
            return Sentence(
                "The tag %(tag)s does not begin with “%(start)s”, as tags of your team must. A right tag is "
                "“%(example)s”.",
                {**values, "start": self.start},
            )
        if self.plain and OTHER_THAN_PLAIN.search(tag):
            return Sentence(
                "The tag %(tag)s has other characters than letters from A to Z, a to z, digits, “.”, “_” and “-”. A "
                "right tag is “%(example)s”.",
                values,
            )
        if len(composed(tag)) > self.most_characters:
            return Sentence(
                "The tag %(tag)s has %(count)d characters, and may have %(most)d. A right tag is “%(example)s”.",
                {**values, "count": len(composed(tag)), "most": self.most_characters},
            )
        return None


ANY_TAG = TagRule()


def shared_starts(rule: TagRule, teams: Iterable[str]) -> dict[str, list[str]]:
    """The teams by what their tags begin with, where a rule with {team} gives several teams the same beginning."""
    if TEAM not in rule.start:
        return {}
    found: dict[str, list[str]] = {}
    for team in sorted(teams):
        found.setdefault(rule.of_team(team).start, []).append(team)
    return {start: named for start, named in found.items() if len(named) > 1}


def check_tag_rule(rule: TagRule) -> None:
    """Raise `InvalidValueError` for a rule that no tag, or not the tags of every team, could follow."""
    literal = _literal(rule.start)
    if (
        not literal.isprintable()
        or any(one.isspace() or one in "{}" for one in literal)
        or rule.start.count(TEAM) > 1
        or (rule.plain and OTHER_THAN_PLAIN.search(literal))
    ):
        raise InvalidValueError(
            "“%(start)s” cannot be the beginning of tags: it has characters that a tag can have, and {team} at most "
            "once, in place of the team's name.",
            start=_shown(rule.start),
        )
    least = len(literal) + (TEAM in rule.start) + CHOSEN_LENGTH
    if least > GREATEST_TAG_LENGTH:
        raise InvalidValueError("“%(start)s” is too long for the beginning of tags.", start=_shown(rule.start))
    if not least <= rule.most_characters <= GREATEST_TAG_LENGTH:
        raise InvalidValueError(
            "The longest tag has %(least)d to %(most)d characters here, not %(given)d.",
            least=least,
            most=GREATEST_TAG_LENGTH,
            given=rule.most_characters,
        )


def check_team_rules(rule: TagRule, most_runs: int) -> None:
    """Raise `InvalidValueError` as `check_tag_rule`, and for a number of runs that cannot be the most of a team."""
    check_tag_rule(rule)
    if not 0 <= most_runs <= GREATEST_MOST_RUNS:
        raise InvalidValueError(
            "The most runs of a team is a number from 1 to %(most)d, or 0 for no limit, not %(given)d.",
            most=GREATEST_MOST_RUNS,
            given=most_runs,
        )


def can_be_of_team(rule: TagRule) -> bool:
    """Whether `TagRule.of_team` could give this rule: a tag can have what it begins with, and four characters more."""
    return (
        len(rule.start) + CHOSEN_LENGTH <= rule.most_characters <= GREATEST_TAG_LENGTH
        and rule.start.isprintable()
        and not any(map(str.isspace, rule.start))
        and not (rule.plain and OTHER_THAN_PLAIN.search(rule.start))
    )


def _shown(start: str) -> str:
    return start if len(start) <= MOST_SHOWN else f"{start[:MOST_SHOWN]}…"


def composed(text: str) -> str:
    """The text with composed letters (NFC): macOS writes names of files with decomposed ones, and others do not."""
    return unicodedata.normalize("NFC", text)


def _literal(start: str) -> str:
    return start.replace(TEAM, "")
