"""The sentences of the report in its language, which need not be the reader's."""

import re
from functools import cache
from gettext import GNUTranslations, NullTranslations

from annotator.errors import Sentence
from annotator.installed import PACKAGE
from annotator.workflows.leaderboard.overview_report import ENGLISH


class Words:
    """Translates into one language; English needs no catalogue."""

    def __init__(self, language: str) -> None:
        """Load the catalogue of the pages."""
        self.language = language
        self._catalogue = _catalogue(language)

    def gettext(self, text: str, /, **values: object) -> str:
        """The text in this language, with `%(name)s` filled in; a percent sign is `%%`."""
        return self._catalogue.gettext(text) % values

    def translate(self, text: str) -> str:
        """A text without values in this language, such as one of a manifest."""
        return self._catalogue.gettext(text) if text else text

    def say(self, sentence: Sentence) -> str:
        """A sentence of the program with its values filled in."""
        values = {name: self.say(one) if isinstance(one, Sentence) else one for name, one in sentence.values.items()}
        return self.translate(sentence.template) % values

    def explain(self, docstring: str) -> str:
        """The help of a measure, with line breaks between paragraphs only."""
        return re.sub(r"(?<!\n)\n(?!\n)", " ", self.translate(docstring))


@cache
def _catalogue(language: str) -> NullTranslations:
    if language == ENGLISH:
        return NullTranslations()
    path = PACKAGE / "web" / "translations" / language / "LC_MESSAGES" / "messages.mo"
    with path.open("rb") as file:
        return GNUTranslations(file)
