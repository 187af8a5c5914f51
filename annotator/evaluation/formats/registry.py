"""Every format of input files: the reference, `--input-format` and what is reported about a file come from here."""

from collections.abc import Sequence
from itertools import islice

from annotator.errors import Sentence
from annotator.evaluation.formats.columnar import is_columnar
from annotator.evaluation.formats.docno_formats import DOCNO_FORMATS
from annotator.evaluation.formats.document_formats import DOCUMENT_FORMATS
from annotator.evaluation.formats.input_formats import HEAD_BYTES, Format, Holds, choose
from annotator.evaluation.formats.row_formats import LABEL_FORMATS, RUN_FORMATS
from annotator.evaluation.formats.topic_formats import TOPIC_FORMATS
from annotator.evaluation.formats.unpacking import UTF8_MARK
from annotator.files import PIECE_BYTES, InputFile
from annotator.packing import DamagedError, packing_of, unpacked

FORMATS: dict[Holds, Sequence[Format]] = {
    Holds.RUNS: RUN_FORMATS,
    Holds.LABELS: LABEL_FORMATS,
    Holds.TOPICS: TOPIC_FORMATS,
    Holds.DOCUMENTS: DOCUMENT_FORMATS,
    Holds.DOCNOS: DOCNO_FORMATS,
}
PARQUET = "parquet"


def names_of(holds: Holds) -> list[str]:
    """The names of the formats of one kind of file."""
    return [one.name for one in FORMATS[holds]]


def format_of(holds: Holds, file: InputFile) -> Format:
    """The format as which a file is read, by its name or its beginning; damage is not reported here."""
    if file.input_format is None and is_columnar(file.content):
        return choose(FORMATS[holds], b"", PARQUET)
    return choose(FORMATS[holds], _head(file.content), file.input_format)


def read_as(holds: Holds, file: InputFile) -> Sentence:
    """What is reported about a file: the format as which it is read."""
    title = format_of(holds, file).title
    return Sentence("%(file)s: read as %(format)s.", {"file": file.name, "format": title})


def _head(content: bytes) -> bytes:
    """The beginning of the text of a file, as far as it can be unpacked."""
    packing = packing_of(content)
    if packing is None:
        return content[:HEAD_BYTES].removeprefix(UTF8_MARK)
    pieces = (content[start : start + PIECE_BYTES] for start in range(0, len(content), PIECE_BYTES))
    try:
        return b"".join(islice(unpacked(pieces, packing, HEAD_BYTES), 1)).removeprefix(UTF8_MARK)
    except DamagedError:
        return b""
