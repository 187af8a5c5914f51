"""Every format of output files: the reference and the choices of `--format` come from here."""

from collections.abc import Sequence

from annotator.evaluation.outputs.judgement_outputs import JUDGEMENT_OUTPUTS
from annotator.evaluation.outputs.output_formats import OutputFormat, Writes
from annotator.evaluation.outputs.qrels_outputs import QRELS_OUTPUTS
from annotator.evaluation.outputs.score_outputs import SCORE_OUTPUTS

ARCHIVE, BEIR = "archive", "beir"
COLLECTION_OUTPUTS = (
    OutputFormat(
        name=ARCHIVE,
        writes=Writes.COLLECTION,
        title="archive",
        about="`annotator collections import`: everything of a collection, a zip of JSON Lines, runs and a manifest "
        "with SHA-256.",
        media="application/zip",
        ending=".zip",
        commands=("collections export",),
        test="tests/cli/collections/test_archive.py",
    ),
    OutputFormat(
        name=BEIR,
        writes=Writes.COLLECTION,
        title="BEIR folder",
        about="BEIR (`GenericDataLoader`), MTEB, ir_datasets, Pyserini: `corpus.jsonl` with the documents that have a "
        "text, `queries.jsonl` with the accepted topics, `qrels/test.tsv` with the settled grades. A folder, or a zip "
        "of it.",
        media="application/zip",
        ending="-beir.zip",
        commands=("collections export",),
        test="tests/cli/collections/test_beir_export.py",
    ),
)
OUTPUTS: dict[Writes, Sequence[OutputFormat]] = {
    Writes.COLLECTION: COLLECTION_OUTPUTS,
    Writes.QRELS: QRELS_OUTPUTS,
    Writes.JUDGEMENTS: JUDGEMENT_OUTPUTS,
    Writes.SCORES: SCORE_OUTPUTS,
}
# By command, and by the name of a format.
WRITTEN_BY: dict[str, dict[str, OutputFormat]] = {}
for _formats in OUTPUTS.values():
    for _format in _formats:
        for _command in _format.commands:
            WRITTEN_BY.setdefault(_command, {})[_format.name] = _format
