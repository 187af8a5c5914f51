"""The formats of runs and of qrels, beside TREC's own, with their detectors."""

import re

from annotator.evaluation.formats.input_formats import Format, Holds, always, never
from annotator.evaluation.formats.judge_files import is_judge_file, judge_rows
from annotator.evaluation.formats.record_layouts import (
    columnar_labels,
    columnar_run,
    has_label_heading,
    has_run_heading,
    label_dictionary,
    label_records,
    label_table,
    ranks_table,
    rated_queries,
    run_dictionary,
    run_records,
    run_table,
)

TREC, JUDGE_FILE = "trec", "judge"
FEWEST_LINES = 2  # for which a detector may rely on the number of columns
STRING = rb'"(?:[^"\\]|\\.)*"'
DICTIONARY = re.compile(rb"\s*\{\s*(" + STRING + rb")\s*:\s*\{\s*(?:" + STRING + rb"\s*:\s*[-0-9NI]|\})")
ABOUT_A_QUERY = {b'"query"', b'"metadata"'}  # first keys of records, which are no topics
WHOLE_NUMBER = re.compile(rb"[0-9]+")
BEIR_HEADING = re.compile(rb"query-id[\t,]corpus-id[\t,]score\s")
RATED_QUERIES = re.compile(rb'\s*\{\s*"(?:judge?mentRatings|requests)"\s*:')


def is_json_text(head: bytes) -> bool:
    """Whether a text begins as JSON."""
    return head.lstrip()[:1] in {b"{", b"["} and head.lstrip()[1:2] != b""


def is_dictionary(head: bytes) -> bool:
    """Whether it begins as a dictionary of dictionaries of numbers."""
    found = DICTIONARY.match(head)
    return found is not None and found[1] not in ABOUT_A_QUERY


def is_records(head: bytes) -> bool:
    """Whether it begins as JSON records."""
    return is_json_text(head) and not is_dictionary(head)


def is_run_table(head: bytes) -> bool:
    """Whether its heading names topic, document and a rank or score, and is not that of BEIR's qrels."""
    return not is_beir(head) and has_run_heading(head)


def is_beir(head: bytes) -> bool:
    """Whether its heading is that of BEIR's qrels."""
    return BEIR_HEADING.match(head) is not None


def is_ranks(head: bytes) -> bool:
    """Whether every line has three columns, the last a whole number; the end of the last line may be missing."""
    lines = (line for line in head.split(b"\n") if line.strip() and not line.startswith(b"#"))
    ranks = 0
    for line in lines:
        words = line.split()
        if len(words) != 3 or not WHOLE_NUMBER.fullmatch(words[2]):  # noqa: PLR2004 - three columns
            return ranks >= FEWEST_LINES and next(lines, None) is None
        ranks += 1
    return ranks > 0


ROWS_TEST = "tests/evaluation/formats/test_row_formats.py"
RUN_FORMATS = (
    Format(
        "csv",
        Holds.RUNS,
        "table of a run",
        "Tables of PyTerrier and pandas (`qid`, `docno`, `score`, `rank`), of OpenSearch and of spreadsheets, "
        "separated by commas, semicolons or tabs. The heading names topic, document and a rank or score. A topic "
        "may be given by its query.",
        "qid,docno,score,rank\n1,d7,12.5,1\n1,d3,11.25,2\n",
        is_run_table,
        run_table,
        ROWS_TEST,
    ),
    Format(
        "msmarco",
        Holds.RUNS,
        "MS MARCO run",
        "MS MARCO: topic, document and rank, without a heading.",
        "1\td7\t1\n1\td3\t2\n",
        is_ranks,
        ranks_table,
        ROWS_TEST,
    ),
    Format(
        "json",
        Holds.RUNS,
        "JSON dictionary",
        "ranx and pytrec_eval: scores by topic and document.",
        '{"1": {"d7": 12.5, "d3": 11.25}}\n',
        is_dictionary,
        run_dictionary,
        ROWS_TEST,
    ),
    Format(
        "jsonl",
        Holds.RUNS,
        "JSON records",
        "JSON Lines or one list: TIRA (`qid`, `docno`, `score`, `rank`, `system`), answers of TREC RAG 2024 and 2025, "
        "of whose `references` the first is the first in the list, and `candidates` of RankLLM and Castorini.",
        '{"topic_id": "1", "run_id": "rag", "references": ["d7", "d3"], "answer": []}\n',
        is_records,
        run_records,
        ROWS_TEST,
    ),
    Format(
        "parquet",
        Holds.RUNS,
        "Parquet",
        "Columns as in a table with a heading; also Arrow files, as of a data set saved by Hugging Face's `datasets`. "
        "Needs the extra `parquet`.",
        "",
        never,
        columnar_run,
        "tests/evaluation/formats/test_columnar_files.py",
    ),
    Format(
        TREC,
        Holds.RUNS,
        "TREC run",
        "trec_eval, PyTerrier (`write_results`), Anserini, ir_measures, ranx. A header of ir_metadata may stand above "
        "the lines, as comments.",
        "1 Q0 d7 1 12.5 bm25\n1 Q0 d3 2 11.25 bm25\n",
        always,
        None,
        "tests/evaluation/runs/test_run_format.py",
        "runs export",
    ),
)
LABEL_FORMATS = (
    Format(
        "beir",
        Holds.LABELS,
        "BEIR qrels",
        "`qrels/*.tsv` of BEIR, MTEB and ir_datasets' copies of them.",
        "query-id\tcorpus-id\tscore\n1\td7\t2\n1\td3\t0\n",
        is_beir,
        label_table,
        ROWS_TEST,
    ),
    Format(
        "csv",
        Holds.LABELS,
        "table of labels",
        "Quepid (`query`, `docid`, `rating`), PyTerrier and pandas (`qid`, `docno`, `label`), separated by commas, "
        "semicolons or tabs. A topic may be given by its query.",
        "query,docid,rating\nblack dress,d7,3\nblack dress,d3,0\n",
        has_label_heading,
        label_table,
        ROWS_TEST,
    ),
    Format(
        "json",
        Holds.LABELS,
        "JSON dictionary",
        "ranx and pytrec_eval: grades by topic and document.",
        '{"1": {"d7": 2, "d3": 0}}\n',
        is_dictionary,
        label_dictionary,
        ROWS_TEST,
    ),
    Format(
        "opensearch",
        Holds.LABELS,
        "OpenSearch judgement list",
        "Judgements of OpenSearch's Search Relevance Workbench, and requests of Elasticsearch's ranking evaluation.",
        '{"judgmentRatings": [{"query": "black dress", "ratings": [{"docId": "d7", "rating": "3"}]}]}\n',
        lambda head: RATED_QUERIES.match(head) is not None,
        rated_queries,
        ROWS_TEST,
    ),
    Format(
        "jsonl",
        Holds.LABELS,
        "JSON records",
        "JSON Lines or one list: ir_datasets (`query_id`, `doc_id`, `relevance`), UMBRELA (`judgment`, with `qid` and "
        "`docid` beside it or in `candidates`).",
        '{"qid": "1", "docid": "d7", "model": "gpt-4o", "judgment": 2}\n',
        is_records,
        label_records,
        ROWS_TEST,
    ),
    Format(
        "parquet",
        Holds.LABELS,
        "Parquet",
        "Columns as in a table with a heading; also Arrow files. Needs the extra `parquet`.",
        "",
        never,
        columnar_labels,
        "tests/evaluation/formats/test_columnar_files.py",
    ),
    Format(
        JUDGE_FILE,
        Holds.LABELS,
        "labels with confidence",
        "Labels of one judge, mostly a machine: topic, Q0, document, grade, confidence (from 0 to 1, a dash for none), "
        "judge. Name the format where no topic has a grade twice, for such a file may be a run.",
        "1 Q0 d7 2 0.93 gpt-4o\n1 Q0 d3 0 0.81 gpt-4o\n1 Q0 d9 0 - gpt-4o\n",
        is_judge_file,
        judge_rows,
        "tests/evaluation/formats/test_judge_files.py",
        "judgements export",
    ),
    Format(
        TREC,
        Holds.LABELS,
        "TREC qrels",
        "trec_eval, MS MARCO and all of TREC: topic, iteration, document, grade; for commands that score also NIST's "
        "samples with a stratum before the grade.",
        "1 0 d7 2\n1 0 d3 0\n",
        always,
        None,
        "tests/evaluation/qrels/test_qrels_format.py",
        "qrels export",
    ),
)
