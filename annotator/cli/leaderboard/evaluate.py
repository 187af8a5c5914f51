"""`annotator evaluate` and `annotator measures`: score run files without a database; list the measures."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click

from annotator.cli.leaderboard.estimated_files import or_estimates_of_files
from annotator.cli.leaderboard.score_formats import score_format_option
from annotator.cli.site.files import FILE, STANDARD_INPUT
from annotator.cli.site.input_files import input_format_option, qrels_format_option, say_formats
from annotator.cli.site.options import compat_option
from annotator.cli.site.tables import (
    TABLE,
    format_option,
    show_json,
    show_rows,
    show_table,
    show_values,
)
from annotator.evaluation.formats.input_formats import Holds
from annotator.evaluation.metrics.inputs import FileFormats
from annotator.evaluation.outputs.score_outputs import TREC_EVAL
from annotator.workflows.leaderboard.score_files import scores_of_files, topic_rows
from annotator.workflows.leaderboard.scoring import (
    File,
    ScoredRun,
    ScoredRuns,
    ScoringOptions,
    explain_measure,
    list_measures,
    read_stream,
    score_as_sample_eval,
    score_as_trec_eval,
    score_files,
)

OF_SCRIPTS = {TREC_EVAL: score_as_trec_eval, "sample_eval": score_as_sample_eval}


def _file(path: str) -> File:
    """A file under its given name; standard input is read now, other files on demand."""
    if path != STANDARD_INPUT:
        return click.format_filename(path), Path(path)
    if sys.stdin is None:
        raise click.UsageError("Standard input is closed.")
    return path, read_stream(sys.stdin.buffer)


@click.command
@click.argument("qrels", type=FILE)
@click.argument("runs", type=FILE, nargs=-1, required=True, metavar="RUN...")
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    help="Such as nDCG@10, AP(rel=2), trec_eval's ndcg_cut.10 or all_trec, tar; repeatable. `annotator measures list`.",
)
@click.option("--by-topic", "per_topic", is_flag=True, help="Also show the value of each topic.")
@click.option(
    "--relevant-from",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="GRADE",
    help="The minimum relevant grade (trec_eval -l).",
)
@click.option("--judged-only", is_flag=True, help="Leave unjudged documents out of the rankings (trec_eval -J).")
@compat_option
@click.option(
    "--lenient",
    is_flag=True,
    help="Accept what trec_eval would accept, with a warning; one process reads the files, one after another.",
)
@input_format_option(Holds.RUNS)
@qrels_format_option
@click.option(
    "--workers", type=click.IntRange(1), help="The number of processes that read files. [the number of processors]"
)
@score_format_option
@or_estimates_of_files(_file)
def command(
    qrels: str,
    runs: Sequence[str],
    measures: Sequence[str],
    relevant_from: int,
    compat: str,
    input_format: str | None,
    qrels_format: str | None,
    workers: int | None,
    format_: str,
    *,
    per_topic: bool,
    judged_only: bool,
    lenient: bool,
) -> None:
    """Score runs against qrels, over all topics of the qrels as trec_eval -c does.

    Files may be compressed, and in the formats of other tools; - is standard input. TREC's qrels have four columns, or
    five for a sample: topic, iteration, document, stratum, grade. For measures by subtopic, such as alpha_nDCG@10, the
    second names the subtopic. A table has four decimals; tot is run, measure, topic and value; trec_eval is the output
    of trec_eval -c -q, ir_measures that of the command of that name, sample_eval that of NIST's script for samples.
    With --estimate, scores are estimated from a sample, with intervals for these topics and for topics like these.
    """
    if [qrels, *runs].count(STANDARD_INPUT) > 1:
        raise click.UsageError("Standard input (-) can be given once.")
    if lenient and (input_format or qrels_format):
        raise click.UsageError("--lenient reads what trec_eval reads: name no format.")
    options = ScoringOptions(
        relevant_from, judged_only, compat, lenient, workers, FileFormats(qrels_format, input_format)
    )
    of_qrels, files = _file(qrels), [_file(run) for run in runs]
    if not lenient:
        say_formats(Holds.LABELS, [of_qrels], qrels_format)
        say_formats(Holds.RUNS, files, input_format)
    if format_ in OF_SCRIPTS:
        text, warnings = OF_SCRIPTS[format_](of_qrels, files, measures, options)
        click.echo(text.encode(), nl=False)
        _say(warnings)
        return
    scored = score_files(of_qrels, files, measures, options)
    _show(scored, options, format_, per_topic=per_topic)
    _say(scored.warnings)


def _show(scored: ScoredRuns, options: ScoringOptions, format_: str, *, per_topic: bool) -> None:
    match format_:
        case "json":
            show_json(_as_json(scored, options, per_topic=per_topic))
        case "table":
            _show_table(scored, per_topic=per_topic)
            click.echo()
            for note in (_source(scored, options), *_notes(scored, options)):
                click.echo(note)
        case _:
            click.echo(scores_of_files(scored, options, format_, per_topic=per_topic), nl=False)
            _say(_notes(scored, options))


def _show_table(scored: ScoredRuns, *, per_topic: bool) -> None:
    if per_topic:
        show_table(["RUN", "TOPIC", *scored.measures], list(topic_rows(scored)))
    else:
        show_table(["RUN", *scored.measures], [[run.name, *run.values] for run in scored.runs])


def _source(scored: ScoredRuns, options: ScoringOptions) -> str:
    """The qrels that the runs were scored by, and the topics."""
    qrels = "standard input" if scored.qrels == STANDARD_INPUT else scored.qrels
    as_before = " Scores and cutoffs as in trec_eval 9." if options.compat == "9" else ""
    return f"Over all topics of {qrels}, as trec_eval -c: {len(scored.topics)}.{as_before}"


def _notes(scored: ScoredRuns, options: ScoringOptions) -> Iterator[str]:
    """Notes on the values: what is missing or was assumed."""
    if scored.without_relevant:
        topics = _listed(scored.without_relevant)
        yield f"Topics without a document of grade {options.relevant_from} or better: {topics}."
    for run in scored.runs:
        if run.missing:
            yield f"{run.name} returned nothing for: {_listed(run.missing)}."


def _listed(topics: Sequence[str], most: int = 10) -> str:
    further = f" and {len(topics) - most} more" if len(topics) > most else ""
    return f"{len(topics)} ({', '.join(topics[:most])}{further})"


def _as_json(scored: ScoredRuns, options: ScoringOptions, *, per_topic: bool) -> dict[str, object]:
    return {
        "qrels": scored.qrels,
        "measures": scored.measures,
        "relevant_from": options.relevant_from,
        "judged_only": options.judged_only,
        "compat": options.compat,
        "topics": len(scored.topics),
        "topics_without_relevant": scored.without_relevant,
        "runs": [_run_as_json(scored, run, per_topic=per_topic) for run in scored.runs],
        "warnings": scored.warnings,
    }


def _run_as_json(scored: ScoredRuns, run: ScoredRun, *, per_topic: bool) -> dict[str, object]:
    topics = {topic: dict(zip(scored.measures, run.by_topic[topic], strict=True)) for topic in scored.topics}
    return {
        "run": run.tag,
        "file": run.file,
        "values": dict(zip(scored.measures, run.values, strict=True)),
        "topics_missing": run.missing,
        "topics_not_in_qrels": run.other_topics,
        **({"by_topic": topics} if per_topic else {}),
    }


def _say(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        click.echo(sentence, err=True)


@click.group
def measures_group() -> None:
    """The measures and their definitions."""


@measures_group.command("list")
@format_option()
def list_known_measures(format_: str) -> None:
    """List every measure by the form of its name: k is a cutoff, x a level, brackets may be left out."""
    show_rows(format_, ["MEASURE", "WHAT IT SAYS"], [[help_.form, help_.summary] for help_ in list_measures().values()])


@measures_group.command("show")
@click.argument("measure")
@format_option()
def show_measure(measure: str, format_: str) -> None:
    """Explain a measure: definition, range, edge cases, parameters in brackets, reference."""
    help_ = explain_measure(measure)
    if format_ != TABLE:
        show_values(
            format_,
            ("NAME", "VALUE"),
            {
                "measure": help_.form,
                "stands for": help_.stands_for,
                "text": help_.text,
                "parameters": [str(parameter) for parameter in help_.parameters],
                "also called": list(help_.also_called),
            },
        )
        return
    stands_for = f"{measure} stands for {help_.stands_for}.\n\n" if help_.stands_for else ""
    click.echo(f"{help_.form}\n\n{stands_for}{help_.text}\n\nIn brackets it takes:")
    for parameter in help_.parameters:
        click.echo(f"  {parameter}")
    if help_.also_called:
        click.echo(f"\nAlso read as: {', '.join(help_.also_called)}.")
