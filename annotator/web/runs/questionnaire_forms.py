"""Forms of the questionnaire: a field for each question, for teams; a row for each question, for organisers."""

from collections.abc import Mapping, Sequence
from typing import Any

from werkzeug.datastructures import MultiDict
from wtforms import (
    BooleanField,
    EmailField,
    Field,
    HiddenField,
    SelectChoice,
    SelectField,
    StringField,
    TextAreaField,
    ValidationError,
)
from wtforms import Form as PlainForm

from annotator.errors import InvalidValueError
from annotator.evaluation.runs.questionnaires import (
    KEY,
    LONGEST_ANSWER,
    LONGEST_QUESTION,
    NO,
    YES,
    AnswerKind,
    RunQuestion,
)
from annotator.web.site.forms import Form, unix_lines
from annotator.web.site.labels import ANSWER_KINDS
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.translate import say
from annotator.workflows.runs.questionnaires import as_plain, read_answers

PREFIX = "answer_"  # keeps the keys of questions apart from the attributes of forms: none begins with it
MOST_DIGITS = 9  # of a version
ROW = "question-{number}-"
NO_COMPLETION = {"autocomplete": "off", "spellcheck": "false"}


class AnswersForm(Form):
    """The answers about a run; its fields are created from the questions of a collection.

    The hidden fields have what was seen when the form was opened: the version of the questionnaire, and on the page of
    a run the fingerprint of its answers.
    """

    questionnaire_version = HiddenField()
    questionnaire_task = HiddenField()
    seen_answers = HiddenField()

    @property
    def question_fields(self) -> list[Field]:
        """The fields of the questions, in their order."""
        return [field for field in self if field.short_name.startswith(PREFIX)]

    @property
    def answers(self) -> dict[str, object]:
        """The entered answers by key."""
        return {field.short_name.removeprefix(PREFIX): field.data or "" for field in self.question_fields}

    @property
    def version(self) -> int:
        """The version that was answered; 0, that of no questions, for none that can be read."""
        return whole_number(self.questionnaire_version.data) or 0

    def show_now(self, version: int, answers: str = "", task: str | None = None) -> None:
        """Show the form with what it is compared with when it is sent again."""
        self.questionnaire_task.data = task or ""
        self.questionnaire_version.data, self.seen_answers.data = str(version), answers


def whole_number(written: str | None) -> int | None:
    """The version in a hidden field; None for what is no number of at most 9 digits."""
    is_number = written is not None and written.isascii() and written.isdecimal() and len(written) <= MOST_DIGITS
    return int(written) if written is not None and is_number else None


def answers_form(
    questions: Sequence[RunQuestion],
    fields: MultiDict[str, str] | None = None,
    *,
    filled: Mapping[str, str] | None = None,
) -> AnswersForm:
    """The submitted form, or an empty one; one with the `fields` of an earlier request, or `filled` with answers."""
    form_class = type("QuestionsForm", (AnswersForm,), {f"{PREFIX}{one.key}": _field(one) for one in questions})
    data = {f"{PREFIX}{key}": answer for key, answer in (filled or {}).items()}
    made: AnswersForm
    if filled is not None:
        made = form_class(formdata=None, data=data)
    else:
        made = form_class() if fields is None else form_class(formdata=fields)
    return made


def _field(question: RunQuestion) -> Field:
    label = gettext("%(question)s (required)", question=question.text) if question.required else question.text
    reads = [_Reading(question)]
    match question.kind:
        case AnswerKind.CHOICE:
            return SelectField(label, reads, default="", choices=_choices(*((one, one) for one in question.choices)))
        case AnswerKind.YES_NO:
            return SelectField(label, reads, default="", choices=_choices((YES, gettext("yes")), (NO, gettext("no"))))
        case AnswerKind.EMAIL:
            return EmailField(label, reads, render_kw=NO_COMPLETION)
        case AnswerKind.NUMBER:
            return StringField(label, reads, render_kw={**NO_COMPLETION, "inputmode": "decimal"})
        case _:
            return TextAreaField(label, reads, filters=[unix_lines], render_kw={"rows": 2, "maxlength": LONGEST_ANSWER})


def _choices(*pairs: tuple[str, str]) -> list[SelectChoice]:
    return [SelectChoice("", gettext("no answer")), *(SelectChoice(value, label) for value, label in pairs)]


class _Reading:
    """A validator that shows next to a field why its answer does not fit."""

    def __init__(self, question: RunQuestion) -> None:
        self._question = question

    def __call__(self, _form: Form, field: Field) -> None:
        try:
            read_answers([self._question], {self._question.key: field.data or ""})
        except InvalidValueError as refusal:
            raise ValidationError(say(refusal.sentence)) from refusal


class QuestionnaireForm(Form):
    """The version of the questionnaire that an organiser saw."""

    after = HiddenField()


class QuestionRow(PlainForm):  # type: ignore[misc]  # wtforms ships no types
    """One question, as an organiser writes it; a row without a key and a text is no question."""

    text = StringField(lazy_gettext("Question"), render_kw={"maxlength": LONGEST_QUESTION, "autocomplete": "off"})
    key = StringField(
        lazy_gettext("Key"),
        description=lazy_gettext("The name in commands and files: small letters a to z, digits and _."),
        render_kw={**NO_COMPLETION, "autocapitalize": "none", "pattern": KEY.pattern},
    )
    kind = SelectField(
        lazy_gettext("Type of answer"),
        choices=lambda: [SelectChoice(kind.value, ANSWER_KINDS[kind]) for kind in AnswerKind],
    )
    choices = TextAreaField(
        lazy_gettext("Choices"),
        filters=[unix_lines],
        description=lazy_gettext("For a choice: one on each line."),
        render_kw={"rows": 2},
    )
    required = BooleanField(lazy_gettext("Required"))
    remove = BooleanField(lazy_gettext("Remove this question"))

    @property
    def is_question(self) -> bool:
        """Whether it is to be asked."""
        return not self.remove.data and bool((self.key.data or "").strip() or (self.text.data or "").strip())

    def plain(self) -> dict[str, Any]:
        """The question as entered, for `questions_of`."""
        lines = [line.strip() for line in (self.choices.data or "").split("\n")]
        return {
            "key": (self.key.data or "").strip(),
            "text": self.text.data or "",
            "kind": self.kind.data,
            "required": bool(self.required.data),
            "choices": [line for line in lines if line],
        }


def question_rows(questions: Sequence[RunQuestion], formdata: MultiDict[str, str] | None = None) -> list[QuestionRow]:
    """A row for each question and an empty one; with `formdata`, every row of that form as it was entered."""
    if formdata is not None:
        count = sum(1 for name in formdata if name.endswith("-kind"))
        return [QuestionRow(formdata, prefix=ROW.format(number=number)) for number in range(count)]
    filled = [{**one, "choices": "\n".join(one["choices"])} for one in as_plain(questions)]
    return [QuestionRow(prefix=ROW.format(number=number), data=one) for number, one in enumerate([*filled, {}])]
