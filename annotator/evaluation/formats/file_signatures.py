"""Recognises files that are no text by their first bytes, so that they are refused by their name."""

import re

from annotator.errors import Problems, Sentence

GZIP = b"\x1f\x8b"
# UTF-32 before UTF-16: its little-endian mark begins with that of UTF-16.
UNICODE_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
# Text without a byte order mark: every second byte, or three of four, are zero as long as the characters are ASCII.
UNMARKED = {
    re.compile(rb"(?:[\t\n\r\x20-\x7e]\0\0\0){2}"): "UTF-32",
    re.compile(rb"(?:\0\0\0[\t\n\r\x20-\x7e]){2}"): "UTF-32",
    re.compile(rb"(?:[\t\n\r\x20-\x7e]\0){4}"): "UTF-16",
    re.compile(rb"(?:\0[\t\n\r\x20-\x7e]){4}"): "UTF-16",
}
TAR_MAGIC, TAR_OFFSET = b"ustar", 257
LONGEST_SIGNATURE = TAR_OFFSET + len(TAR_MAGIC)

GZIPPED = Sentence("compressed with gzip")
COMPRESSED = {
    re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"): Sentence("compressed with bzip2"),
    re.compile(rb"\xfd7zXZ\0"): Sentence("compressed with xz"),
    re.compile(rb"\x5d\0\0[\x00-\xff]{2}\xff{8}"): Sentence("compressed with lzma"),
    re.compile(rb"(?:\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)"): Sentence("compressed with Zstandard"),
    re.compile(rb"\x04\x22\x4d\x18"): Sentence("compressed with LZ4"),
    re.compile(rb"\x1f\x9d"): Sentence("compressed with compress (.Z)"),
}
ZIP = re.compile(rb"PK(?:\x03\x04|\x05\x06|\x07\x08)")
ZIP_ARCHIVE = Sentence("a zip archive")
# By a part that such a zip file has; names of parts are not compressed.
ZIP_KINDS = {
    b"xl/workbook": Sentence("an Excel workbook"),
    b"word/document": Sentence("a Word document"),
    b"ppt/presentation": Sentence("a PowerPoint presentation"),
    b"application/vnd.oasis.opendocument.spreadsheet": Sentence("an OpenDocument spreadsheet"),
    b"application/vnd.oasis.opendocument.text": Sentence("an OpenDocument text"),
}
TAR_ARCHIVE = Sentence("a tar archive")
ARCHIVES = {
    re.compile(rb"7z\xbc\xaf\x27\x1c"): Sentence("a 7-Zip archive"),
    re.compile(rb"Rar!\x1a\x07"): Sentence("a RAR archive"),
}
DOCUMENTS = {
    re.compile(rb"%PDF-"): Sentence("a PDF document"),
    re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"): Sentence("an old Word or Excel file"),
    re.compile(rb"\{\\rtf1"): Sentence("an RTF document"),
    re.compile(rb"PAR1\x15"): Sentence("a Parquet file"),
    re.compile(rb"ARROW1\0"): Sentence("an Arrow file"),
    re.compile(rb"SQLite format 3\0"): Sentence("an SQLite database"),
}


def kind_of(data: bytes) -> Sentence | None:
    """What the data are by their first bytes, such as “a PDF document”; None for text and for what is not known."""
    if data.startswith(GZIP):
        return GZIPPED
    if ZIP.match(data):
        return kind_of_zip(data)
    if data.startswith(TAR_MAGIC, TAR_OFFSET) and b"\0" in data[:TAR_OFFSET]:
        return TAR_ARCHIVE
    return next(
        (kind for kinds in (COMPRESSED, ARCHIVES, DOCUMENTS) for magic, kind in kinds.items() if magic.match(data)),
        None,
    )


def kind_of_zip(data: bytes) -> Sentence:
    """What a zip file is by the names of its parts, which may be all that is given."""
    return next((kind for part, kind in ZIP_KINDS.items() if part in data), ZIP_ARCHIVE)


def unicode_of(data: bytes) -> str | None:
    """“UTF-16” or “UTF-32” where the text is in one of them; None where it is not."""
    marked = next((name for mark, name in UNICODE_MARKS.items() if data.startswith(mark)), None)
    return marked or next((name for pattern, name in UNMARKED.items() if pattern.match(data)), None)


def note_no_text(problems: Problems, name: str, data: bytes) -> bool:
    """Note that the (unpacked) data are a known kind of file that is no text in UTF-8; False when they are not."""
    kind = kind_of(data)
    if kind is GZIPPED:
        problems.add(name, None, "The file is compressed with gzip twice. Compress it once.")
    elif kind in COMPRESSED.values():
        problems.add(name, None, "The file is %(kind)s. Unpack it, or compress it with gzip.", kind=kind)
    elif kind is ZIP_ARCHIVE or kind is TAR_ARCHIVE or kind in ARCHIVES.values():
        problems.add(name, None, "The file is %(kind)s. Send the files in it, plain or gzip.", kind=kind)
    elif kind is not None:
        problems.add(name, None, "The file is %(kind)s, not text. Save its content as text in UTF-8.", kind=kind)
    elif encoding := unicode_of(data):
        problems.add(name, None, "The file is text in %(encoding)s. Save it as UTF-8.", encoding=encoding)
    else:
        return False
    return True
