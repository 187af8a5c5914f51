"""Search queries with AND, OR, NOT, "phrases", prefixes*, parentheses: a parse tree, translated for each database."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from annotator.errors import InvalidValueError
from annotator.evaluation.formats.identifiers import check_free_text
from annotator.evaluation.search.search_text import IS_DENSE, RUN, Phrase, fold, phrase_of


@dataclass(frozen=True)
class Asked:
    """A search term: a word, a prefix (`opens`), or a quoted phrase, as written."""

    text: str
    quoted: bool = False
    opens: bool = False

    @property
    def phrase(self) -> Phrase:
        """The phrase to search for in the words of documents."""
        return phrase_of(self.text, opens=self.opens)

    def __str__(self) -> str:
        """Write it so that it reads back the same."""
        return (f'"{self.text}"' if self.quoted else self.text) + ("*" if self.opens else "")


@dataclass(frozen=True)
class All:
    """All of `parts` and none of `without`; there is at least one part."""

    parts: tuple["Query", ...]
    without: tuple["Query", ...] = ()

    def __str__(self) -> str:
        """Write it so that it reads back the same."""
        return " ".join([*(_inner(part) for part in self.parts), *(f"NOT {_inner(part)}" for part in self.without)])


@dataclass(frozen=True)
class AnyOf:
    """At least one of two or more parts."""

    parts: tuple["Query", ...]

    def __str__(self) -> str:
        """Write it so that it reads back the same."""
        return " OR ".join(_inner(part) if isinstance(part, AnyOf) else str(part) for part in self.parts)


Query = Asked | All | AnyOf
Condition = TypeVar("Condition")


def asked_in(query: Query, *, also_without: bool = True) -> Iterator[Asked]:
    """Yield every term of a query, or only those by which a document may match."""
    if isinstance(query, Asked):
        yield query
        return
    for part in query.parts:
        yield from asked_in(part, also_without=also_without)
    if isinstance(query, All) and also_without:
        for part in query.without:
            yield from asked_in(part)


def fts5_of(query: Query) -> str:
    """Translate the query for SQLite's FTS5. Of the input, only letters, digits and their marks remain."""
    match query:
        case Asked():
            phrase = query.phrase
            return '"' + " ".join(phrase.words) + '"' + (" *" if phrase.opens else "")
        case All():
            wanted = " AND ".join(map(fts5_of, query.parts))
            return "(" + " NOT ".join([f"({wanted})", *map(fts5_of, query.without)]) + ")"
        case AnyOf():
            return "(" + " OR ".join(map(fts5_of, query.parts)) + ")"


def tsquery_of(query: Query) -> str:
    """Return the words that a matching document must have for PostgreSQL, without phrase order and NOT.

    With nothing but single words wanted it is the query. Nothing of what was typed is in it but letters, digits and
    their marks.
    """
    match query:
        case Asked():
            phrase = query.phrase
            words = [f"'{word}'" for word in phrase.words]
            return "(" + " & ".join(words) + (":*" if phrase.opens else "") + ")"
        case All():
            return "(" + " & ".join(map(tsquery_of, query.parts)) + ")"
        case AnyOf():
            return "(" + " | ".join(map(tsquery_of, query.parts)) + ")"


def folded(
    query: Query,
    has_phrase: Callable[[Sequence[str], bool], Condition],
    has_all: Callable[[Sequence[Condition], Sequence[Condition]], Condition],
    has_any: Callable[[Sequence[Condition]], Condition],
) -> Condition:
    """The query as a condition: of words (and whether the last may go on), all parts and none of others, any part."""

    def fold(query: Query) -> Condition:
        match query:
            case Asked():
                return has_phrase(query.phrase.words, query.phrase.opens)
            case All():
                return has_all(list(map(fold, query.parts)), list(map(fold, query.without)))
            case AnyOf():
                return has_any(list(map(fold, query.parts)))

    return fold(query)


def _inner(query: Query) -> str:
    return str(query) if isinstance(query, Asked) else f"({query})"


LONGEST_QUERY = 1_000
MOST_WORDS = 100
DEEPEST = 10
SHORTEST_BEGINNING = 2

OPERATORS = ("AND", "OR", "NOT")
# Typographic quotation marks, parentheses and stars.
PLAIN = str.maketrans("“”„‟«»\uff02\uff08\uff09\uff0a", '"""""""()*')
PIECE = re.compile(r'[()]|"(?P<quoted>[^"]*)(?P<closed>"?)(?P<star>\*?)|(?P<word>[^\s()"]+)')


def parse_query(text: str) -> Query:
    """Parse a query; adjacent words are joined by AND, which binds closer than OR.

    Raises `InvalidValueError` with a sentence that says what is wrong and at which character, counted from 1.
    """
    check_free_text(text, LONGEST_QUERY)
    reader = _Reader(list(_tokens(text)))
    if not reader.tokens:
        raise InvalidValueError("There is nothing to search for: write a word.")
    query = reader.any_of(0)
    if reader.token is not None:
        raise InvalidValueError(
            "The parenthesis at character %(place)d closes nothing: leave it out.", place=reader.token.place
        )
    count = sum(len(asked.phrase.words) for asked in asked_in(query))
    if count > MOST_WORDS:
        raise InvalidValueError(
            "The query has %(count)d words, where at most %(most)d are possible (of Korean, Chinese and Japanese each "
            "character counts as one).",
            count=count,
            most=MOST_WORDS,
        )
    return query


def any_word_of(text: str) -> str:
    """Return an OR query of the words of a text, such as a topic's title; empty when it has no word.

    Words are deduplicated, and those beyond the limit of a query are left out.
    """
    words: dict[str, str] = {}
    for run in RUN.findall(text):
        if phrase_of(run).words:
            words.setdefault(fold(run), run.lower() if run in OPERATORS else run)
    query, signs = "", 0
    for word in words.values():
        longer = f"{query} OR {word}" if query else word
        signs += len(phrase_of(word).words)
        if len(longer) > LONGEST_QUERY or signs > MOST_WORDS:
            break
        query = longer
    return query


@dataclass(frozen=True)
class _Token:
    """A token of a query: an operator, a parenthesis (`sign`), or a search term."""

    place: int
    sign: str
    asked: Asked | None = None


def _tokens(text: str) -> Iterator[_Token]:
    for piece in PIECE.finditer(text.translate(PLAIN)):
        place, whole = piece.start() + 1, piece[0]
        if piece["quoted"] is not None:
            yield _Token(place, "", _quoted(place, piece))
        elif piece["word"] is None or whole in OPERATORS:
            yield _Token(place, whole)
        else:
            yield _Token(place, "", _word(place, whole))


def _quoted(place: int, piece: re.Match[str]) -> Asked:
    text = " ".join(piece["quoted"].split())
    if not piece["closed"]:
        raise InvalidValueError("The quotation mark at character %(place)d is not closed.", place=place)
    if not text:
        raise InvalidValueError("The quotation marks at character %(place)d have nothing between them.", place=place)
    if "*" in text:
        raise InvalidValueError(
            "A * inside quotation marks finds nothing (character %(place)d): write it behind them.", place=place
        )
    return _checked(Asked(text, quoted=True, opens=bool(piece["star"])), place)


def _word(place: int, word: str) -> Asked:
    text = word.removesuffix("*")
    if not text:
        raise InvalidValueError(
            "A * alone is no word (character %(place)d): write the beginning of a word before it.", place=place
        )
    if "*" in text:
        raise InvalidValueError(
            "A * is possible only at the end of a word, as in “retriev*”, not as in “%(word)s” (character %(place)d).",
            word=word,
            place=place,
        )
    if text.startswith("-") and phrase_of(text).words:
        raise InvalidValueError(
            "To leave documents out write NOT and a blank in place of the - at character %(place)d.", place=place
        )
    return _checked(Asked(text, opens=text != word), place)


def _checked(asked: Asked, place: int) -> Asked:
    words = asked.phrase.words
    if not words:
        raise InvalidValueError(
            "“%(text)s” at character %(place)d has no letter and no digit to search for.", text=asked.text, place=place
        )
    if asked.opens and len(words[-1]) < SHORTEST_BEGINNING and not IS_DENSE.match(words[-1]):
        raise InvalidValueError(
            "“%(text)s” at character %(place)d is too short a beginning: write %(least)d letters or more before the *.",
            text=asked,
            place=place,
            least=SHORTEST_BEGINNING,
        )
    return asked


class _Reader:
    """A recursive descent parser; each method leaves `token` after its input."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens = tokens
        self.at = 0

    @property
    def token(self) -> _Token | None:
        """The next token, None at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def sign(self) -> str:
        """The next operator or parenthesis, empty for anything else."""
        return self.token.sign if self.token else ""

    def any_of(self, depth: int) -> Query:
        """Parse one or more conjunctions joined by OR."""
        parts = [self.all_of(depth)]
        while self.sign() == "OR":
            self.at += 1
            parts.append(self.all_of(depth, after=self.tokens[self.at - 1]))
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def all_of(self, depth: int, after: _Token | None = None) -> Query:
        """Parse parts with or without AND between them; `after` is the OR before them."""
        parts: list[Query] = []
        without: list[Query] = []
        first = self.token
        while self.token is not None and self.sign() not in {"OR", ")"}:
            if self.sign() == "AND":
                if not (parts or without):
                    raise _lacks("left", self.token)
                after = self.token
                self.at += 1
                if self.sign() in {"AND", "OR", ")"} or self.token is None:
                    raise _lacks("right", after)
            (without if self.sign() == "NOT" else parts).append(self.part(depth))
            after = None
        if not parts:
            raise _no_part(first, after, self.token, excluded=bool(without))
        return All(tuple(parts), tuple(without)) if len(parts) + len(without) > 1 else parts[0]

    def part(self, depth: int) -> Query:
        """Parse a word, a phrase, or a query in parentheses; a NOT before it is skipped."""
        token = self.tokens[self.at]
        self.at += 1
        if token.sign == "NOT":
            if self.token is None or self.sign() in {*OPERATORS, ")"}:
                raise _lacks("right", token)
            return self.part(depth)
        return token.asked if token.asked is not None else self.parenthesised(token, depth + 1)

    def parenthesised(self, opened: _Token, depth: int) -> Query:
        """Parse the part between an opening parenthesis and its closing one."""
        if depth > DEEPEST:
            raise InvalidValueError("Parentheses are possible %(most)d deep, not deeper.", most=DEEPEST)
        if self.sign() == ")":
            raise InvalidValueError(
                "The parentheses at character %(place)d have nothing between them.", place=opened.place
            )
        query = self.any_of(depth) if self.token is not None else None
        if query is None or self.token is None:
            raise InvalidValueError("The parenthesis at character %(place)d is not closed.", place=opened.place)
        self.at += 1
        return query


def _no_part(first: _Token | None, after: _Token | None, behind: _Token | None, *, excluded: bool) -> InvalidValueError:
    """The error for a query of which a part is missing."""
    if excluded and first is not None:
        return InvalidValueError(
            "NOT at character %(place)d only excludes documents: add what to find, as in “cats NOT dogs”.",
            place=first.place,
        )
    if after is not None:
        return _lacks("right", after)
    if behind is not None and behind.sign == "OR":
        return _lacks("left", behind)
    return InvalidValueError(
        "The parenthesis at character %(place)d closes nothing: leave it out.", place=behind.place if behind else 1
    )


def _lacks(side: str, operator: _Token) -> InvalidValueError:
    if side == "left":
        return InvalidValueError(
            "%(operator)s at character %(place)d has nothing before it: write what it joins, or “%(operator)s” in "
            "quotation marks to search for the word.",
            operator=operator.sign,
            place=operator.place,
        )
    return InvalidValueError(
        "%(operator)s at character %(place)d has nothing behind it: write what it joins, or “%(operator)s” in "
        "quotation marks to search for the word.",
        operator=operator.sign,
        place=operator.place,
    )
