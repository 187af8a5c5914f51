"""Inputs made from examples by random changes of bytes, words and lines, the same from the same seed."""

import gzip
import random
from collections.abc import Callable, Sequence

LONGEST = 4096
# What has broken parsers before: limits of numbers, other alphabets' digits and blanks, marks of order and of encoding.
ODD = (
    *(b"", b"\0", b"\r", b"\r\n", b"\n\n", b"\t\t", b"\x0b", b"\x0c", b"\x1c", b"\x85", b"\xc2\x85", b"\xc2\xa0"),
    *(b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\xf0\x9f\x92\xa9", b"\xe3\x80\x80", b"\xc3"),
    *(
        b"-1",
        b"0",
        b"00",
        b"9999999999",
        b"-32769",
        b"2147483648",
        b"1e999",
        b"-1e-999",
        b"nan",
        b"inf",
        b"0x1p1",
        b"1_0",
    ),
    *("٣".encode(), "１".encode(), "²".encode(), "ﬁ".encode(), "İ".encode(), "검색".encode()),  # noqa: RUF001 - meant
    *(b"<", b">", b"</", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"&#0;", b"&#xD800;", b"&#99999999;", b"&amp", b"<?"),
    *(b"<script>", b"</script", b"<svg", b"<style>", b"<textarea>", b"<top>", b"</DOC>", b"<DOC>", b"<!DOCTYPE x["),
    *(b'"', b"'", b"\\", b"\\u0000", b"\\ud800", b"{", b"}", b"[", b"]", b"(", b")", b"*", b"%s", b"%(a)s", b"@", b"="),
    *(b"[" * 600, b"(" * 60, b"<b>" * 300, b"a" * 2000, b"9" * 4400, b" " * 500, b"AND ", b" NOT ", b"OR"),
)

Change = Callable[[random.Random, bytes], bytes]


def mutated(chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    """One input: an example after one to eight changes, now and then packed, cut off or damaged as gzip."""
    data = chance.choice(seeds)
    for _ in range(chance.choice((1, 1, 2, 2, 3, 4, 8))):
        data = chance.choice(CHANGES)(chance, data)[:LONGEST]
    if chance.random() < 0.02:  # noqa: PLR2004 - one in fifty
        packed = gzip.compress(data, 1)
        return chance.choice((packed, packed[: chance.randrange(len(packed))], _flip(chance, packed), packed + data))
    return data


def _flip(chance: random.Random, data: bytes) -> bytes:
    if not data:
        return data
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]


def _insert(chance: random.Random, data: bytes) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + chance.choice(ODD) + data[at:]


def _remove(chance: random.Random, data: bytes) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + data[at + chance.randint(1, 8) :]


def _repeat(chance: random.Random, data: bytes) -> bytes:
    at = chance.randint(0, len(data))
    piece = data[at : at + chance.randint(1, 64)]
    return data[:at] + piece * chance.choice((2, 3, 50)) + data[at:]


def _replace_word(chance: random.Random, data: bytes) -> bytes:
    words = data.split(b" ")
    words[chance.randrange(len(words))] = chance.choice(ODD)
    return b" ".join(words)


def _move_lines(chance: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True) * chance.choice((1, 2))
    chance.shuffle(lines)
    return b"".join(lines)


def _random_bytes(chance: random.Random, data: bytes) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + chance.randbytes(chance.randint(1, 16)) + data[at:]


CHANGES: tuple[Change, ...] = (_flip, _insert, _insert, _remove, _repeat, _replace_word, _move_lines, _random_bytes)
