"""The formats in which judgements are written, one row for each with its history."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from annotator.evaluation.formats.columnar import parquet_of
from annotator.evaluation.outputs.output_formats import OutputFormat, Writes


@dataclass(frozen=True)
class Passage:
    """A marked passage of the document as shown; positions count characters, from 0."""

    start: int
    end: int
    text: str


class JudgementRow(NamedTuple):
    """One exported judgement; replaced ones are included, marked as not current. Times are ISO 8601.

    `purpose` is why the judge had the document; `carried_from` is the docno of a document with the same text from which
    the judgement was copied. `sequence` is the order of judgements within a browser `tab`.
    """

    topic: str
    docno: str
    judge: str
    grade: int | None
    cannot_judge: str | None
    note: str
    seconds: float | None
    judged_at: str
    guidelines: int | None
    late: bool
    current: bool
    received_at: str
    tab: str
    sequence: int | None
    purpose: str
    carried_from: str | None
    evidence: tuple[Passage, ...]


def judgements_jsonl(rows: Iterable[JudgementRow]) -> Iterator[bytes]:
    """One JSON object per line, in chunks."""
    for row in rows:
        of_row = {**row._asdict(), "evidence": [vars(passage) for passage in row.evidence]}
        yield json.dumps(of_row, ensure_ascii=False).encode() + b"\n"


def judgements_parquet(rows: Iterable[JudgementRow]) -> Iterator[bytes]:
    """The columns of CSV with numbers as numbers; all rows are in memory."""
    yield parquet_of(JudgementRow._fields, [(*row[:-1], evidence_json(row)) for row in rows])


def evidence_json(row: JudgementRow) -> str:
    """The passages as a JSON list, for a cell of a table."""
    if not row.evidence:  # as with most judgements
        return "[]"
    return json.dumps([vars(passage) for passage in row.evidence], ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class JudgementsFormat(OutputFormat):
    """How judgements are written: `write` where nothing is needed beside the rows and no spreadsheet runs formulas."""

    write: Callable[[Iterable[JudgementRow]], Iterator[bytes]] | None = None


CSV = "csv"
JUDGE_FILE = "judge"
LABEL_STUDIO, LABEL_STUDIO_CONFIG = "label-studio", "label-studio-config"
COMMAND = ("judgements export",)
TEST = "tests/workflows/judging/test_judgement_export.py"
OF_LABEL_STUDIO = "tests/evaluation/outputs/test_label_studio.py"
JUDGEMENT_OUTPUTS = (
    JudgementsFormat(
        name=CSV,
        writes=Writes.JUDGEMENTS,
        title="CSV",
        about="pandas, R and spreadsheets: every judgement with judge, grade, seconds, times, note, evidence and "
        "purpose, also replaced ones, which are not `current`.",
        media="text/csv",
        ending="-judgements.csv",
        commands=COMMAND,
        test=TEST,
    ),
    JudgementsFormat(
        name="jsonl",
        writes=Writes.JUDGEMENTS,
        title="JSON lines",
        about="Programs: the same, as an object for each judgement.",
        media="application/x-ndjson",
        ending="-judgements.jsonl",
        commands=COMMAND,
        test=TEST,
        write=judgements_jsonl,
    ),
    JudgementsFormat(
        name="parquet",
        writes=Writes.JUDGEMENTS,
        title="Parquet",
        about="pandas, polars and Hugging Face's `datasets`: the columns of CSV. Needs the extra `parquet`.",
        media="application/vnd.apache.parquet",
        ending="-judgements.parquet",
        commands=COMMAND,
        test=TEST,
        write=judgements_parquet,
    ),
    JudgementsFormat(
        name=JUDGE_FILE,
        writes=Writes.JUDGEMENTS,
        title="labels with confidence",
        about="`judgements import`, and programs that compare judges: the labels of one judge that count, also of "
        "documents outside the pool: topic, Q0, document, grade, confidence (a dash for none), judge.",
        media="text/plain",
        ending="-labels.txt",
        commands=COMMAND,
        test=TEST,
    ),
    JudgementsFormat(
        name=LABEL_STUDIO,
        writes=Writes.JUDGEMENTS,
        title="tasks of Label Studio",
        about="Label Studio's import: a task for each judged document that has a text, with topic and document as "
        "data. The judgements that count are annotations, those of machines predictions. The judge is the field "
        "`judge`, as Label Studio refuses accounts that it does not have; the annotations belong to the "
        "account that imports them.",
        media="application/json",
        ending="-label-studio.json",
        commands=COMMAND,
        test=OF_LABEL_STUDIO,
    ),
    JudgementsFormat(
        name=LABEL_STUDIO_CONFIG,
        writes=Writes.JUDGEMENTS,
        title="labelling configuration of Label Studio",
        about="The labelling interface of the project into which the tasks are imported: the grades of the scale as "
        "choices, reasons why there is none, evidence, note, judge.",
        media="application/xml",
        ending="-label-studio.xml",
        commands=COMMAND,
        test=OF_LABEL_STUDIO,
    ),
)
OF_ROWS = {one.name: one.write for one in JUDGEMENT_OUTPUTS if one.write is not None}
