"""Translates sentences for the reader."""

from annotator.errors import Sentence
from annotator.storage import Role
from annotator.web.site.labels import ROLES
from annotator.web.site.language import gettext


def say(sentence: Sentence) -> str:
    """The sentence in the reader's language, with its values filled in."""
    values = {name: _say_value(value) for name, value in sentence.values.items()}
    return gettext(sentence.template) % values


def _say_value(value: object) -> object:
    if isinstance(value, Sentence):
        return say(value)
    return ROLES[value] if isinstance(value, Role) else value
