"""What a text is found by: its words, folded; and in scripts without blanks between words, each pair of neighbours."""

import html
import re
import unicodedata
from dataclasses import dataclass
from itertools import accumulate

# Written without blanks between words, or, as Korean, with endings grown onto them.
HAN_AND_KANA = "\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf"
HAN_AND_KANA += "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
THAI_LAO_BURMESE_KHMER = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
DENSE = HAN_AND_KANA + HANGUL + THAI_LAO_BURMESE_KHMER

# Signs that belong to the letter before them: vowels of India, points of Hebrew and Arabic.
MARKS = "".join(chr(code) for code in range(0x300, 0x2000) if unicodedata.category(chr(code)) in {"Mn", "Mc"})
RUN = re.compile(rf"[{DENSE}]+|[^\W_{DENSE}]+(?:[{MARKS}]+[^\W_{DENSE}]*)*")
ASCII_RUN = re.compile(r"[a-z0-9]+")
# Most English texts have no other signs than these, and their words are found ten times as quickly.
ENGLISH = re.compile("[\x00-\x7f\u00a0\u2010-\u2015\u2018-\u201f\u2022\u2026]*")
IS_DENSE = re.compile(f"[{DENSE}]")

ACCENTS = re.compile("[\u0300-\u036f]+")
# Soft hyphens, joiners, marks of direction, selectors of variants: the same word with them as without.
INVISIBLE = re.compile("[\u00ad\u034f\u180e\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]+")
# A line that ends in the middle of Chinese or Japanese text ends in the middle of a word as often as not.
WRAPPED = re.compile(rf"(?<=[{HAN_AND_KANA}])[ \t\u3000]*\r?\n[ \t\u3000]*(?=[{HAN_AND_KANA}])")

BEGINS_WITH_TAG = re.compile(r"\s*<[A-Za-z!?/]")
UNSEEN = re.compile(r"<!--.*?-->|<(script|style|template)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
TAG = re.compile(r"<[^<>]*>")

# PostgreSQL takes no longer word than 2,046 bytes; nobody types one of a hundred signs.
LONGEST_WORD = 100
# A tsvector ends at 2^20 bytes, and with its positions it takes up to twice the bytes of the words.
MOST_BYTES = 500_000
# Keeps a phrase from beginning in the title and ending in the body. No query has this word.
BOUNDARY = "·"


@dataclass(frozen=True)
class Phrase:
    """Words that follow each other; with `opens`, the last is the beginning of a word."""

    words: tuple[str, ...]
    opens: bool = False


def fold(text: str) -> str:
    """One form for what readers take for the same letters, without case, width and accents."""
    if text.isascii():
        return text.lower()
    lower = unicodedata.normalize("NFKC", INVISIBLE.sub("", text)).casefold()
    return unicodedata.normalize("NFKC", ACCENTS.sub("", unicodedata.normalize("NFD", lower)))


def words_of(text: str) -> list[str]:
    """The words of a text in their order.

    A dense run, such as of Korean, gives a word for each of its signs: that and the next one, the last one alone. So
    any part of the run is found: a longer one as a phrase of pairs, a single sign as the beginning of a word.
    """
    if ENGLISH.fullmatch(text):
        return [run[:LONGEST_WORD] for run in ASCII_RUN.findall(text.lower())]
    folded = fold(text)
    if not IS_DENSE.search(folded):
        return [run[:LONGEST_WORD] for run in RUN.findall(folded)]
    words: list[str] = []
    for run in RUN.findall(fold(join_lines(text))):
        if IS_DENSE.match(run):
            words += [run[at : at + 2] for at in range(len(run))]
        else:
            words.append(run[:LONGEST_WORD])
    return words


def join_lines(text: str) -> str:
    """The text without line ends between two signs of Chinese or Japanese."""
    return text if text.isascii() else WRAPPED.sub("", text)


def phrase_of(text: str, *, opens: bool = False) -> Phrase:
    """What to look for where somebody asked for this text; `opens` when more letters may follow."""
    words = words_of(text)
    if not words or not IS_DENSE.match(words[-1]):
        return Phrase(tuple(words), opens and bool(words))
    if len(words) > 1 and len(words[-2]) > 1 and IS_DENSE.match(words[-2]) and words[-2][1] == words[-1]:
        # The pair before says it already, and what is asked for may go on.
        return Phrase(tuple(words[:-1]))
    return Phrase(tuple(words), opens=True)


def indexed_words(title: str, body: str) -> str:
    """The words that a document is found by, with blanks between them; of a very long one the first half megabyte."""
    words = [*words_of(title), BOUNDARY, *words_of(plain_text(body))]
    whole = " ".join(words)
    if len(whole) * 4 <= MOST_BYTES or len(whole.encode()) <= MOST_BYTES:
        return whole
    ends = accumulate(len(word.encode()) + 1 for word in words)
    return " ".join(word for word, end in zip(words, ends, strict=True) if end <= MOST_BYTES)


def plain_text(body: str) -> str:
    """A body without tags, when it begins with one; any other body as it is."""
    if not BEGINS_WITH_TAG.match(body):
        return body
    return html.unescape(TAG.sub(" ", UNSEEN.sub(" ", body)))
