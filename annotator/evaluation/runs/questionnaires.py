"""Questionnaires: the questions that organisers ask about every run, and the answers that fit them."""

import json
import math
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from annotator.errors import InvalidValueError, Sentence
from annotator.evaluation.formats.identifiers import check_free_text

KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
# What RFC 5321 lets pass in practice: one @, no blanks, a domain. Only a mail shows whether the address exists.
EMAIL = re.compile(r"[^\s@<>()\[\],;:\"\\]+@[^\s@<>()\[\],;:\"\\.]+(?:\.[^\s@<>()\[\],;:\"\\.]+)+")
MOST_QUESTIONS = 50
MOST_CHOICES = 50
LONGEST_QUESTION = 500
LONGEST_CHOICE = 200
LONGEST_ANSWER = 2_000
LONGEST_NUMBER = 40
LONGEST_EMAIL = 254  # RFC 5321, with the brackets of a path left out
LONGEST_FILE = 1 << 18
YES, NO = "yes", "no"
# The columns of answers as CSV before those of the questions, whose headings are their keys.
ANSWERS_HEADINGS = ("run", "team", "file", "complete")


class AnswerKind(StrEnum):
    """The type of an answer."""

    TEXT = "text"
    NUMBER = "number"
    CHOICE = "choice"  # one of the choices of the question
    YES_NO = "yes-no"
    EMAIL = "e-mail"


@dataclass(frozen=True)
class RunQuestion:
    """A question about a run; answers name it by its key, and only a choice has choices."""

    key: str
    text: str
    kind: AnswerKind = AnswerKind.TEXT
    required: bool = False
    choices: tuple[str, ...] = ()

    def asks_the_same(self, other: "RunQuestion | None") -> bool:
        """Whether an answer to the other question answers this one, too; `required` makes no difference."""
        return other is not None and (self.text, self.kind, self.choices) == (other.text, other.kind, other.choices)


FIELDS = frozenset(RunQuestion.__dataclass_fields__)


def read_questionnaire(text: str) -> tuple[RunQuestion, ...]:
    """Parse questions written as JSON or TOML: `questions`, a list with key, text, kind, required and choices.

    Raises `InvalidValueError` for text that is neither, and as `questions_of`.
    """
    check_free_text(text, LONGEST_FILE)
    begin = text.lstrip()
    try:
        # A list of tables in TOML begins with two brackets, which no list of questions in JSON does.
        is_json = begin.startswith("{") or (begin.startswith("[") and not begin.startswith("[["))
        parsed: Any = json.loads(text) if is_json else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidValueError("The questionnaire is neither JSON nor TOML: %(reason)s.", reason=str(error)) from error
    if isinstance(parsed, dict):
        unknown = sorted(parsed.keys() - {"questions"})
        if unknown or "questions" not in parsed:
            raise InvalidValueError("A questionnaire has “questions” and nothing else.")
        parsed = parsed["questions"]
    return questions_of(parsed)


def questions_of(plain: object) -> tuple[RunQuestion, ...]:
    """Questions from plain values, as JSON and TOML have them.

    Raises `InvalidValueError`, which counts questions from 1, for a wrong type, an unknown field, an invalid or
    repeated key, a text or a list of choices that is too long, and choices where there are none to make.
    """
    if not isinstance(plain, list):
        raise InvalidValueError("The questions are not a list.")
    if len(plain) > MOST_QUESTIONS:
        raise InvalidValueError(
            "A questionnaire has at most %(most)d questions, not %(given)d.", most=MOST_QUESTIONS, given=len(plain)
        )
    questions: list[RunQuestion] = []
    for number, one in enumerate(plain, start=1):
        question = _question(number, one)
        if any(question.key == other.key for other in questions):
            raise InvalidValueError(
                "Question %(number)d: the key “%(key)s” is used twice.", number=number, key=question.key
            )
        questions.append(question)
    return tuple(questions)


def refuse_taken_keys(questions: Iterable[RunQuestion]) -> None:
    """Raise `InvalidValueError` for a key that is the heading of another column of the answers as CSV."""
    for number, one in enumerate(questions, 1):
        if one.key in ANSWERS_HEADINGS:
            raise InvalidValueError(
                "Question %(number)d: the table of answers has another column “%(key)s”. Choose another key.",
                number=number,
                key=one.key,
            )


def as_plain(questions: Iterable[RunQuestion]) -> list[dict[str, Any]]:
    """The questions as JSON has them, which `questions_of` reads."""
    return [{**asdict(one), "kind": one.kind.value, "choices": list(one.choices)} for one in questions]


def _question(number: int, plain: object) -> RunQuestion:
    if not isinstance(plain, dict):
        raise InvalidValueError("Question %(number)d is not an object with key, text and kind.", number=number)
    unknown = sorted(map(str, plain.keys() - FIELDS))
    if unknown:
        raise InvalidValueError(
            "Question %(number)d has an unknown field “%(field)s”.", number=number, field=unknown[0][:LONGEST_NUMBER]
        )
    key, text = plain.get("key"), plain.get("text")
    if not isinstance(key, str) or not KEY.fullmatch(key):
        raise InvalidValueError(
            "Question %(number)d: its key is at most 40 small letters a to z, digits and _, the first a letter.",
            number=number,
        )
    if not isinstance(text, str) or not text.strip():
        raise InvalidValueError("Question %(number)d (%(key)s) has no text.", number=number, key=key)
    check_free_text(text, LONGEST_QUESTION)
    kind = plain.get("kind", AnswerKind.TEXT.value)
    if not isinstance(kind, str) or kind not in set(AnswerKind):
        raise InvalidValueError(
            "Question %(number)d (%(key)s): its kind is one of %(kinds)s.",
            number=number,
            key=key,
            kinds=", ".join(AnswerKind),
        )
    required = plain.get("required", False)
    if not isinstance(required, bool):
        raise InvalidValueError("Question %(number)d (%(key)s): required is true or false.", number=number, key=key)
    choices = _choices(number, key, AnswerKind(kind), plain.get("choices", []))
    return RunQuestion(key, text.strip(), AnswerKind(kind), required, choices)


def _choices(number: int, key: str, kind: AnswerKind, given: object) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise InvalidValueError("Question %(number)d (%(key)s): choices are a list of texts.", number=number, key=key)
    choices = [one.strip() for one in given]
    if kind is not AnswerKind.CHOICE:
        if choices:
            raise InvalidValueError(
                "Question %(number)d (%(key)s) has choices, but its kind is not choice.", number=number, key=key
            )
        return ()
    if not 2 <= len(choices) <= MOST_CHOICES:  # noqa: PLR2004 - one is none
        raise InvalidValueError(
            "Question %(number)d (%(key)s) needs from 2 to %(most)d choices.", number=number, key=key, most=MOST_CHOICES
        )
    for choice in choices:
        check_free_text(choice, LONGEST_CHOICE)
        if not choice or "\n" in choice or "\r" in choice:
            raise InvalidValueError(
                "Question %(number)d (%(key)s): each choice is one line of text.", number=number, key=key
            )
    if len(set(choices)) < len(choices):
        raise InvalidValueError("Question %(number)d (%(key)s) has the same choice twice.", number=number, key=key)
    return tuple(choices)


def parse_answers(text: str) -> dict[str, object]:
    """Answers by key from a JSON object; an empty text has none. Raises `InvalidValueError` for anything else."""
    try:
        parsed = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise InvalidValueError("The answers are not JSON: %(reason)s.", reason=str(error)) from error
    if not isinstance(parsed, dict):
        raise InvalidValueError("The answers are a JSON object with the keys of questions.")
    return parsed


def read_answers(questions: Sequence[RunQuestion], given: Mapping[str, object]) -> dict[str, str]:
    """Answers by key as they are stored: text without blanks around it, `yes` or `no`; an empty one is no answer.

    Raises `InvalidValueError` for an unknown key and for an answer that does not fit its question, which it names.
    """
    by_key = {one.key: one for one in questions}
    for key in given:
        if key not in by_key:
            raise InvalidValueError("The questionnaire has no question “%(key)s”.", key=str(key)[:LONGEST_NUMBER])
    return {key: _answer(by_key[key], value) for key, value in given.items()}


def fits(question: RunQuestion, answer: str) -> bool:
    """Whether this is an answer to the question."""
    try:
        return bool(_answer(question, answer))
    except InvalidValueError:
        return False


def _answer(question: RunQuestion, value: object) -> str:
    if isinstance(value, bool):
        value = YES if value else NO
    elif isinstance(value, int | float):
        value = str(value)
    elif value is None:
        value = ""
    if not isinstance(value, str):
        raise InvalidValueError("The answer to “%(key)s” is no text, number, or yes or no.", key=question.key)
    answer = value.replace("\r\n", "\n").strip()
    check_free_text(answer, LONGEST_ANSWER)
    if answer and not _is_answer(question, answer):
        raise InvalidValueError(
            _EXPECTED[question.kind].template,
            key=question.key,
            choices=", ".join(f"“{one}”" for one in question.choices),
        )
    return answer


def _is_answer(question: RunQuestion, answer: str) -> bool:
    match question.kind:
        case AnswerKind.NUMBER:
            short = len(answer) <= LONGEST_NUMBER
            return short and NUMBER.fullmatch(answer) is not None and math.isfinite(float(answer))
        case AnswerKind.CHOICE:
            return answer in question.choices
        case AnswerKind.YES_NO:
            return answer in {YES, NO}
        case AnswerKind.EMAIL:
            return len(answer) <= LONGEST_EMAIL and EMAIL.fullmatch(answer) is not None
        case _:
            return True


_EXPECTED: Mapping[AnswerKind, Sentence] = {
    AnswerKind.TEXT: Sentence("The answer to “%(key)s” is text."),
    AnswerKind.NUMBER: Sentence("The answer to “%(key)s” is a number such as 12 or 0.5."),
    AnswerKind.CHOICE: Sentence("The answer to “%(key)s” is one of %(choices)s."),
    AnswerKind.YES_NO: Sentence("The answer to “%(key)s” is yes or no."),
    AnswerKind.EMAIL: Sentence("The answer to “%(key)s” is an e-mail address."),
}


def unanswered(questions: Iterable[RunQuestion], answered: Collection[str]) -> list[str]:
    """The keys of required questions without an answer, in order."""
    return [one.key for one in questions if one.required and one.key not in answered]
