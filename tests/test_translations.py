"""Every sentence people read can be said in every language, and what is compiled is what was written."""

import re

import pytest
from babel.messages.catalog import Message

from annotator.web.site.catalogue import (
    LANGUAGES,
    catalogue_path,
    collect,
    compiled,
    read_catalogue,
)

VALUE = re.compile(r"%\(\w+\)[sd]|%%")


@pytest.fixture(scope="module")
def sentences() -> dict[str, Message]:
    return {str(message.id): message for message in collect() if message.id}


def values_of(text: str) -> list[str]:
    return sorted(VALUE.findall(text))


@pytest.fixture(params=LANGUAGES)
def translated(request: pytest.FixtureRequest) -> dict[str, Message]:
    return {str(message.id): message for message in read_catalogue(request.param) if message.id}


def test_sentences_of_code_pages_errors_and_measures_are_collected(sentences: dict[str, Message]) -> None:
    assert "There is no collection “%(slug)s”." in sentences
    assert "Nothing was stored. Problems found: %(total)d." in sentences
    assert any(sentence.startswith("Mean precision at the rank") or "precision" in sentence for sentence in sentences)
    places = {place.split("/")[0] for message in sentences.values() for place, _ in message.locations}
    assert places == {"annotator", "templates"}


def test_no_sentence_lacks_its_translation(sentences: dict[str, Message], translated: dict[str, Message]) -> None:
    missing = [sentence for sentence in sentences if not (sentence in translated and translated[sentence].string)]
    assert missing == []


def test_no_translation_has_lost_its_sentence(sentences: dict[str, Message], translated: dict[str, Message]) -> None:
    assert set(translated) <= set(sentences)


def test_a_translation_has_the_values_of_its_sentence(translated: dict[str, Message]) -> None:
    differing = [
        sentence
        for sentence, message in translated.items()
        if set(values_of(sentence)) != set(values_of(str(message.string)))
    ]
    assert differing == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_catalogue_is_the_written_one(language: str) -> None:
    assert catalogue_path(language).with_suffix(".mo").read_bytes() == compiled(read_catalogue(language))
