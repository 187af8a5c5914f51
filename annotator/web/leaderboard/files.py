"""Scores of run files without a collection, by page as by `annotator evaluate` and `compare`; nothing is stored."""

from dataclasses import replace

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileField, FileRequired, MultipleFileField
from wtforms import StringField

from annotator.errors import InvalidValueError
from annotator.evaluation.formats.input_formats import Holds
from annotator.evaluation.inspection.scored_files import FilesCompared
from annotator.evaluation.metrics.inputs import FileFormats
from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.packing import unpack_to_more
from annotator.settings import MEBIBYTE
from annotator.web.site.access import signed_in_page
from annotator.web.site.forms import Form
from annotator.web.site.input_formats import format_field, report_formats
from annotator.web.site.language import lazy_gettext
from annotator.web.site.uploads import whole_files
from annotator.workflows.leaderboard.inspecting import USUAL_SEED
from annotator.workflows.leaderboard.scoring import ScoredRuns, ScoringOptions, compare_run_files, score_files

blueprint = Blueprint("files", __name__)

# There is no collection whose jobs could take more: these are scored in a few seconds.
MOST_MEBIBYTES = 32
MOST_DRAWN = 40  # runs in a picture that shows every name
# The page's thread reads the files: processes of its own would take the processors from the judges.
OPTIONS = ScoringOptions(workers=1)


class FilesForm(Form):
    """Qrels and runs, and how they are scored."""

    qrels = FileField(
        lazy_gettext("Qrels"),
        [FileRequired()],
        description=lazy_gettext("Topic, iteration, document, grade, or in a format of other tools; also compressed."),
    )
    runs = MultipleFileField(
        lazy_gettext("Runs"),
        [FileRequired()],
        description=lazy_gettext("One file or several, of TREC or other tools; also compressed. Two are compared."),
    )
    qrels_format = format_field(Holds.LABELS, lazy_gettext("Format of the qrels"))
    input_format = format_field(Holds.RUNS, lazy_gettext("Format of the runs"))
    measures = StringField(lazy_gettext("Measures"), default=" ".join(DEFAULT_MEASURES))
    baseline = StringField(
        lazy_gettext("Baseline"),
        description=lazy_gettext("Optional: the tag or the file name of the run with which the others are compared."),
    )


@blueprint.get("/files")
@signed_in_page
def show() -> ResponseReturnValue:
    """The form for the files."""
    return _page(FilesForm(formdata=None))


@blueprint.post("/files")
@signed_in_page
def score() -> ResponseReturnValue:
    """Score the files, and show means, differences and the conclusion."""
    form = FilesForm()
    if form.validate():
        with form.guard():
            return _page(form, *_scored(form))
    return _page(form), form.status


def _scored(form: FilesForm) -> tuple[ScoredRuns, FilesCompared]:
    sent = [form.qrels.data, *form.runs.data]
    if unpack_to_more([file.stream for file in sent], MOST_MEBIBYTES * MEBIBYTE):
        raise InvalidValueError(
            "These files have more than %(mebibytes)d MiB unpacked, the most that this page scores at once. Send fewer "
            "runs, or use the command annotator evaluate.",
            mebibytes=MOST_MEBIBYTES,
        )
    for file in sent:
        file.stream.seek(0)
    formats = FileFormats(form.qrels_format.data or None, form.input_format.data or None)
    qrels, *runs = whole_files(sent)
    scored = score_files(
        (qrels.name, qrels.content),
        [(run.name, run.content) for run in runs],
        (form.measures.data or "").split(),
        replace(OPTIONS, formats=formats),
    )
    report_formats(Holds.LABELS, [replace(qrels, input_format=formats.qrels)])
    report_formats(Holds.RUNS, [replace(run, input_format=formats.runs) for run in runs])
    return scored, compare_run_files(scored, (form.baseline.data or "").strip() or None, seed=USUAL_SEED)


def _page(form: FilesForm, scored: ScoredRuns | None = None, compared: FilesCompared | None = None) -> str:
    return render_template("leaderboard/files.html", form=form, scored=scored, compared=compared, most_drawn=MOST_DRAWN)
