"""Pseudonyms of teams and runs in a published kit, and the search for names that are left in its files."""

import csv
import hmac
import io
import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotator.evaluation.formats.pseudonyms import name_pattern
from annotator.evaluation.publishing.kit_files import OF_COLUMNS
from annotator.spreadsheets import APOSTROPHE

DIGITS = 12  # hexadecimal digits of a pseudonym: two of 2,000 names get the same one with a chance of 1 in 100 million


@dataclass(frozen=True)
class Veil:
    """The pseudonym of each team and of each tag of a run; without any, names stay as they are."""

    teams: Mapping[str, str]
    runs: Mapping[str, str]

    def team(self, name: str | None) -> str | None:
        """What is published in place of a team's name."""
        return None if name is None else self.teams.get(name, name)

    def run(self, tag: str) -> str:
        """What is published in place of a run's tag."""
        return self.runs.get(tag, tag)

    @property
    def names(self) -> frozenset[str]:
        """All names that a kit may not contain."""
        return frozenset({*self.teams, *self.runs})

    def parameters(self, value: Any) -> Any:  # noqa: ANN401 - a JSON value
        """A JSON value in which each text that is exactly a tag or a team's name is its pseudonym, also as a key."""
        match value:
            case str():
                return self.runs.get(value, self.teams.get(value, value))
            case dict():
                return {self.parameters(key): self.parameters(one) for key, one in value.items()}
            case list():
                return [self.parameters(one) for one in value]
            case _:
                return value

    def table(self) -> list[list[object]]:
        """What organisers keep: the headings, and a row for each name with its pseudonym."""
        rows: list[list[object]] = [["team", name, pseudonym] for name, pseudonym in sorted(self.teams.items())]
        rows += [["run", tag, pseudonym] for tag, pseudonym in sorted(self.runs.items())]
        return [["kind", "name", "pseudonym"], *rows]


NO_VEIL = Veil({}, {})


def make_veil(key: str, teams: Iterable[str], tags: Iterable[str]) -> Veil:
    """Make pseudonyms from a secret key and the name alone, so that later teams and runs change none of them.

    They are the first digits of HMAC-SHA-256 (RFC 2104), so that nobody without the key can try names.
    """

    def pseudonym(kind: str, name: str) -> str:
        return f"{kind}-{hmac.digest(key.encode(), f'{kind} {name}'.encode(), 'sha256').hex()[:DIGITS]}"

    return Veil(
        {name: pseudonym("team", name) for name in teams},
        {tag: pseudonym("run", tag) for tag in tags},
    )


class NameSearch:
    """Looks for names in the files of a kit.

    In tables and in files of columns a field is compared as a whole, in JSON and in text a name is found as a whole
    word, whatever its case: `run1` is in `see RUN1.` and not in `run12`. There blanks and line ends count as one space,
    and characters are compared in their compatible form (NFKC).
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._fields = frozenset(name.encode() for name in self._names)
        self._pattern = name_pattern(map(_plain, self._names)) if self._names else None

    def found(self, file: str, pieces: Iterable[bytes]) -> list[str]:
        """The names in the content of this file, sorted; its kind is known by its ending."""
        if self._pattern is None:
            return []
        if file.endswith(OF_COLUMNS):
            return sorted(name.decode() for name in self._in_columns(pieces))
        text = b"".join(pieces).decode()
        if file.endswith(".csv"):
            cells = {cell.removeprefix(APOSTROPHE) for row in csv.reader(io.StringIO(text)) for cell in row}
            return sorted(cells & self._names)
        words = {word.casefold() for one in _texts(file, text) for word in self._pattern.findall(_plain(one))}
        return sorted(name for name in self._names if _plain(name).casefold() in words)

    def without_words_of(self, texts: Iterable[str]) -> "NameSearch":
        """A search for the names that do not occur in these texts: there they are words of the organisers."""
        return NameSearch(self._names.difference(self.found("", ["\n".join(texts).encode()])))

    def _in_columns(self, lines: Iterable[bytes]) -> set[bytes]:
        found: set[bytes] = set()
        for line in lines:
            found |= self._fields.intersection(line.split())
        return found


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _texts(file: str, text: str) -> Iterator[str]:
    """The texts of a file as people wrote them: JSON writes some characters otherwise."""
    if file.endswith(".jsonl"):
        for line in text.splitlines():
            yield from _strings(json.loads(line))
    elif file.endswith(".json"):
        yield from _strings(json.loads(text))
    else:
        yield text


def _strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for key, one in value.items():
                yield key
                yield from _strings(one)
        case list():
            for one in value:
                yield from _strings(one)
        case _:
            return
