"""Index terms of a text: its folded words, and character bigrams in scripts without blanks between words."""

import html
import re
import unicodedata
from dataclasses import dataclass
from itertools import accumulate

# Written without blanks between words, or, like Korean, with suffixed particles.
HAN_AND_KANA = "\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf"
HAN_AND_KANA += "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
THAI_LAO_BURMESE_KHMER = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
DENSE = HAN_AND_KANA + HANGUL + THAI_LAO_BURMESE_KHMER

# Combining marks: Indic vowel signs, Hebrew and Arabic points.
MARKS = "".join(chr(code) for code in range(0x300, 0x2000) if unicodedata.category(chr(code)) in {"Mn", "Mc"})
RUN = re.compile(rf"[{DENSE}]+|[^\W_{DENSE}]+(?:[{MARKS}]+[^\W_{DENSE}]*)*")
ASCII_RUN = re.compile(r"[a-z0-9]+")
# Most English texts have only these characters, and are tokenised ten times as fast.
ENGLISH = re.compile("[\x00-\x7f\u00a0\u2010-\u2015\u2018-\u201f\u2022\u2026]*")
# Bytes of ASCII in lower case, and a blank for each that is neither a letter nor a digit.
LETTERS_AND_BLANKS = bytes(
    ord(sign.lower()) if sign.isascii() and sign.isalnum() else 32 for sign in map(chr, range(256))
)
IS_DENSE = re.compile(f"[{DENSE}]")

ACCENTS = re.compile("[\u0300-\u036f]+")
# Soft hyphens, joiners, direction marks, variation selectors: ignored in words.
IGNORED_IN_WORDS = re.compile("[\u00ad\u034f\u180e\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]+")
# A line break within Chinese or Japanese text is often within a word.
WRAPPED = re.compile(rf"(?<=[{HAN_AND_KANA}])[ \t\u3000]*\r?\n[ \t\u3000]*(?=[{HAN_AND_KANA}])")

BEGINS_WITH_TAG = re.compile(r"\s*<[A-Za-z!?/]")
UNSEEN = re.compile(r"<!--.*?-->|<(script|style|template)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
TAG = re.compile(r"<[^<>]*>")

# PostgreSQL limits words to 2,046 bytes; nobody types one of a hundred characters.
LONGEST_WORD = 100
# A tsvector is limited to 2^20 bytes, and with positions takes up to twice the bytes of the words.
MOST_BYTES = 500_000
# Keeps a phrase from beginning in the title and ending in the body. No query has this word.
BOUNDARY = "·"


@dataclass(frozen=True)
class Phrase:
    """Consecutive words; with `opens`, the last one is a prefix."""

    words: tuple[str, ...]
    opens: bool = False


def fold(text: str) -> str:
    """Normalise a text: equivalent letters become the same, without case, width and accents."""
    if text.isascii():
        return text.lower()
    lower = unicodedata.normalize("NFKC", IGNORED_IN_WORDS.sub("", text)).casefold()
    return unicodedata.normalize("NFKC", ACCENTS.sub("", unicodedata.normalize("NFD", lower)))


def words_of(text: str) -> list[str]:
    """Return the words of a text in order.

    A dense run, such as Korean, gives a bigram for each character, and the last character alone. So any substring of
    the run is found: a longer one as a phrase of bigrams, a single character as a prefix.
    """
    if text.isascii() or ENGLISH.fullmatch(text):
        words = text.encode("ascii", "replace").translate(LETTERS_AND_BLANKS).decode("ascii").split()
        return words if max(map(len, words), default=0) <= LONGEST_WORD else [word[:LONGEST_WORD] for word in words]
    folded = fold(text)
    if not IS_DENSE.search(folded):
        return [run[:LONGEST_WORD] for run in RUN.findall(folded)]
    words = []
    for run in RUN.findall(fold(join_lines(text))):
        if IS_DENSE.match(run):
            words += [run[at : at + 2] for at in range(len(run))]
        else:
            words.append(run[:LONGEST_WORD])
    return words


def join_lines(text: str) -> str:
    """Remove line breaks between two Chinese or Japanese characters."""
    return text if text.isascii() else WRAPPED.sub("", text)


def phrase_of(text: str, *, opens: bool = False) -> Phrase:
    """Return the phrase to search for this query text; with `opens`, more letters may follow."""
    words = words_of(text)
    if not words or not IS_DENSE.match(words[-1]):
        return Phrase(tuple(words), opens and bool(words))
    if len(words) > 1 and len(words[-2]) > 1 and IS_DENSE.match(words[-2]) and words[-2][1] == words[-1]:
        # The previous bigram contains the last character, and the match may continue after it.
        return Phrase(tuple(words[:-1]))
    return Phrase(tuple(words), opens=True)


def indexed_words(title: str, body: str) -> str:
    """Return a document's index terms, separated by blanks; the first half megabyte of a very long document."""
    words = [*words_of(title), BOUNDARY, *words_of(plain_text(body))]
    whole = " ".join(words)
    if len(whole) * 4 <= MOST_BYTES or len(whole.encode()) <= MOST_BYTES:
        return whole
    ends = accumulate(len(word.encode()) + 1 for word in words)
    return " ".join(word for word, end in zip(words, ends, strict=True) if end <= MOST_BYTES)


def plain_text(body: str) -> str:
    """Remove tags from a body that begins with one; return any other body unchanged."""
    if not BEGINS_WITH_TAG.match(body):
        return body
    return html.unescape(TAG.sub(" ", UNSEEN.sub(" ", body)))
