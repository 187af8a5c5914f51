"""The formats in which settled grades are written, for trec_eval and for other tools."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotator.errors import ConflictError
from annotator.evaluation.formats.columnar import parquet_of
from annotator.evaluation.outputs.beir_folder import qrels_table
from annotator.evaluation.outputs.output_formats import OutputFormat, Writes
from annotator.spreadsheets import csv_text

# Topic, docno and grade.
Line = tuple[str, str, int]
# Topic → its query.
Queries = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class QrelsFormat(OutputFormat):
    """How settled grades are written: `write` takes lines in order and the queries; without it, as they are exported.

    `sample` is whether the file is of a stratified sample.
    """

    write: Callable[[Sequence[Line], Queries], bytes] | None = None
    sample: bool = False


def lines_of(qrels: bytes) -> list[Line]:
    """The lines of qrels in TREC's four columns as this program writes them, in order."""
    rows = (line.split(" ") for line in qrels.decode().splitlines())
    return [(topic, docno, int(grade)) for topic, _, docno, grade in rows]


def quepid_ratings(lines: Sequence[Line], queries: Queries) -> bytes:
    """The ratings of a case of Quepid: query, docid, rating. Unjudged documents have no line.

    Raises `ConflictError` when two topics have the same query, by which alone Quepid tells them apart.
    """
    by_query: dict[str, str] = {}
    for topic in dict.fromkeys(topic for topic, _, _ in lines):
        first = by_query.setdefault(queries[topic].strip(), topic)
        if first != topic:
            raise ConflictError(
                "The topics %(first)s and %(second)s have the same query, and Quepid tells queries apart by their "
                "text alone.",
                first=first,
                second=topic,
            )
    ratings = [(queries[topic], docno, grade) for topic, docno, grade in lines if grade >= 0]
    # Quepid too puts a blank before what starts like a formula; its import strips cells.
    return csv_text([("query", "docid", "rating"), *ratings], guard=" ").encode()


def dictionary(lines: Iterable[Line], _queries: Queries) -> bytes:
    """The grades by topic and document, as pytrec_eval and ranx take them."""
    grades: dict[str, dict[str, int]] = {}
    for topic, docno, grade in lines:
        grades.setdefault(topic, {})[docno] = grade
    return json.dumps(grades, ensure_ascii=False).encode() + b"\n"


TEST = "tests/evaluation/outputs/test_qrels_outputs.py"
COMMAND = ("qrels export",)
TREC = "trec"
QRELS_OUTPUTS = (
    QrelsFormat(
        name=TREC,
        writes=Writes.QRELS,
        title="TREC qrels",
        about="trec_eval, ir_measures, PyTerrier, autojudge: topic, iteration, document, grade; the same bytes each "
        "time.",
        media="text/plain",
        ending=".qrels",
        commands=COMMAND,
        test=TEST,
        example="1 0 d3 0\n1 0 d7 2\n",
    ),
    QrelsFormat(
        name="beir",
        writes=Writes.QRELS,
        title="BEIR qrels",
        about="`qrels/*.tsv` of BEIR, MTEB and ir_datasets. `annotator collections export --format beir` writes the "
        "whole folder.",
        media="text/tab-separated-values",
        ending=".qrels.tsv",
        commands=COMMAND,
        test=TEST,
        example="query-id\tcorpus-id\tscore\n1\td3\t0\n1\td7\t2\n",
        write=lambda lines, _: qrels_table(lines),
    ),
    QrelsFormat(
        name="quepid",
        writes=Writes.QRELS,
        title="ratings of Quepid",
        about="Quepid's import of ratings into a case. Topics are given by their queries, which must differ; unjudged "
        "documents have no line.",
        media="text/csv",
        ending="-ratings.csv",
        commands=COMMAND,
        test=TEST,
        example='"query","docid","rating"\n"black dress","d3","0"\n"black dress","d7","2"\n',
        write=quepid_ratings,
    ),
    QrelsFormat(
        name="json",
        writes=Writes.QRELS,
        title="JSON dictionary",
        about="ranx (`Qrels.from_file`) and pytrec_eval: grades by topic and document.",
        media="application/json",
        ending=".qrels.json",
        commands=COMMAND,
        test=TEST,
        example='{"1": {"d3": 0, "d7": 2}}\n',
        write=dictionary,
    ),
    QrelsFormat(
        name="parquet",
        writes=Writes.QRELS,
        title="Parquet",
        about="pandas, polars and Hugging Face's `datasets`: the columns `qid`, `docno` and `label` of PyTerrier. "
        "Needs the extra `parquet`.",
        media="application/vnd.apache.parquet",
        ending=".qrels.parquet",
        commands=COMMAND,
        test=TEST,
        write=lambda lines, _: parquet_of(("qid", "docno", "label"), lines),
    ),
    QrelsFormat(
        name="prels",
        writes=Writes.QRELS,
        title="prels of a stratified sample",
        about="NIST's `sample_eval.pl`, for xinfAP and infNDCG: topic, iteration, document, stratum, grade; -1 for "
        "what was not drawn.",
        media="text/plain",
        ending=".prels",
        commands=COMMAND,
        test="tests/workflows/qrels/test_prels.py",
        example="1 0 d7 1 2\n1 0 d3 2 -1\n",
        sample=True,
    ),
    QrelsFormat(
        name="infap",
        writes=Writes.QRELS,
        title="qrels of a uniform sample",
        about="trec_eval's infAP: four columns, -1 for what was not drawn; for a sample with one rate.",
        media="text/plain",
        ending=".infap.qrels",
        commands=COMMAND,
        test="tests/workflows/qrels/test_prels.py",
        example="1 0 d7 2\n1 0 d3 -1\n",
        sample=True,
    ),
)
SAMPLES = {one.name for one in QRELS_OUTPUTS if one.sample}
SETTLED_OUTPUTS = tuple(one for one in QRELS_OUTPUTS if not one.sample)
