"""Scores of run files estimated from a file of sampled judgements; without a database."""

from collections.abc import Sequence

from annotator.errors import InvalidValueError, Problems
from annotator.evaluation.estimation.estimated_tables import Lists, TableEstimates, check_estimated, estimate_table
from annotator.evaluation.formats.unpacking import read_text
from annotator.evaluation.metrics.names import USUAL_MEASURE, parse_measures
from annotator.evaluation.qrels.qrels_table import QrelsTable, read_qrels
from annotator.evaluation.runs.run_format import parse_run
from annotator.workflows.leaderboard.scoring import File


def estimate_files(
    sample: File, runs: Sequence[File], measures: Sequence[str], machine: File | None, *, relevant_from: int
) -> dict[str, TableEstimates]:
    """Estimate each measure for all runs; `machine` has a machine's grades of all documents of the sample, as qrels.

    Raises `FileRefusedError` with the problems of every file, and `InvalidValueError` for a measure that cannot be
    estimated, for a run given twice, for documents without a grade of the machine, and when nothing can be estimated.
    """
    wanted = parse_measures(measures or [USUAL_MEASURE])
    for measure in wanted:
        check_estimated(measure, relevant_from, by_machine=machine is not None)
    problems = Problems()
    table = _table(sample, problems)
    labels = None if machine is None else _table(machine, problems)
    tags: list[str] = []
    lists: list[Lists] = []
    for file, source in runs:
        text = read_text(problems, file, source)
        parsed = None if text is None else parse_run(file, text, problems)
        tags.append("" if parsed is None else parsed.tag)
        lists.append({} if parsed is None else parsed.lists)
    problems.report_if_any()
    if table is None:
        raise InvalidValueError("%(name)s could not be read.", name=sample[0])
    names = [tag if tags.count(tag) == 1 else f"{tag} ({file})" for tag, (file, _) in zip(tags, runs, strict=True)]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InvalidValueError("The run %(file)s is given twice.", file=twice[0])
    by_run = dict(zip(names, lists, strict=True))
    graded = None if labels is None else labels.graded()
    return {str(one): estimate_table(table, by_run, one, graded, relevant_from) for one in wanted}


def _table(file: File, problems: Problems) -> QrelsTable | None:
    name, source = file
    text = read_text(problems, name, source)
    return None if text is None else read_qrels(name, text, problems)
