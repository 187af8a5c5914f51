"""Importing labels as judgements, and exporting all judgements."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from secrets import token_hex

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileField, FileRequired
from wtforms import BooleanField, HiddenField, RadioField, SelectChoice, StringField
from wtforms.validators import InputRequired

from annotator.errors import Sentence
from annotator.evaluation.formats.input_formats import Holds
from annotator.evaluation.outputs.judgement_outputs import JUDGEMENT_OUTPUTS
from annotator.storage import Role
from annotator.web.people.people import MachineFields
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note, note_export
from annotator.web.site.background import long_form
from annotator.web.site.context import database, now, settings
from annotator.web.site.downloads import written, written_response
from annotator.web.site.forms import Form
from annotator.web.site.input_formats import format_field, report_formats
from annotator.web.site.labels import OUTPUT_FORMATS
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.uploads import input_files
from annotator.workflows.collections import collection
from annotator.workflows.judging import judgement_files, judgement_import
from annotator.workflows.judging.judgement_import import JudgementImport
from annotator.workflows.site.input_sources import formats_summary

blueprint = Blueprint("judgements", __name__)


@dataclass(frozen=True)
class ForeseenLabels:
    """The effect of importing a file, whether it would create the judge's account, and as what the file was read."""

    stored: JudgementImport
    is_new: bool
    formats: Sequence[Sentence]


class ExportForm(Form):
    """How all judgements are written."""

    format = RadioField(
        lazy_gettext("Format"),
        choices=[SelectChoice(one.name, OUTPUT_FORMATS[one.name]) for one in JUDGEMENT_OUTPUTS],
        default=JUDGEMENT_OUTPUTS[0].name,
    )
    judge = StringField(
        lazy_gettext("Judge"),
        id="judge-of-labels",  # the form of imports has a judge, too
        description=lazy_gettext("Only for labels with confidence: whose they are; empty for the only machine judge."),
        render_kw={"autocomplete": "off", "autocapitalize": "none"},
    )
    pseudonyms = BooleanField(
        lazy_gettext("Replace names by pseudonyms"),
        description=lazy_gettext("The names of people are replaced, also in notes."),
    )


class LabelsForm(MachineFields):
    """A file of labels."""

    file = FileField(
        lazy_gettext("File of labels"),
        [FileRequired()],
        description=lazy_gettext(
            "TREC qrels: topic, iteration, docno, grade; or qrels of BEIR, tables, JSON or Parquet; also compressed. A "
            "grade of -1 is unjudged."
        ),
    )
    input_format = format_field(Holds.LABELS)
    judge = StringField(
        lazy_gettext("Name of the judge"),
        [InputRequired()],
        description=lazy_gettext("The judge who gave these grades. A new name becomes an account that cannot sign in."),
        render_kw={"autocomplete": "off", "autocapitalize": "none"},
    )
    add_to_pool = BooleanField(
        lazy_gettext("Add documents that are outside the pool"),
        description=lazy_gettext(
            "Otherwise a file with such documents is refused; of a machine, their labels are stored apart."
        ),
    )
    machine = BooleanField(
        lazy_gettext("The judge is a machine"),
        description=lazy_gettext(
            "Its labels are kept apart from those of people: they are left out of agreement, and are in "
            "the qrels only if the settings include machine judges. Labels outside the scale are listed "
            "but not counted."
        ),
    )
    # Identifies the checked file and fields: only those are imported.
    confirmed = HiddenField()

    def checked_value(self, checksum: str) -> str:
        """The value of `confirmed` for a file with this checksum and the other fields as entered."""
        fields = (self.input_format, self.judge, self.add_to_pool, self.machine)
        entered = (checksum, *(field.data for field in fields), self.facts)
        return hashlib.sha256(repr(entered).encode()).hexdigest()


@blueprint.get("/collections/<slug>/judgements")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The number of judgements, the import form and the exports."""
    return _page(slug, LabelsForm())


@blueprint.post("/collections/<slug>/judgements")
@collection_page(Role.ORGANISER)
@long_form("judgements.add")
def add(slug: str) -> ResponseReturnValue:
    """Import labels as the judgements of one judge, after a confirmation that shows the effect."""
    form = LabelsForm()
    if form.validate():
        with form.guard():
            [file] = files = input_files([form.file.data], form.input_format.data)
            with database().reading() as session:
                checked = judgement_import.check_judgements(
                    session,
                    slug,
                    file,
                    add_to_pool=form.add_to_pool.data,
                    by_machine=form.machine.data,
                    unpacked_limit=settings().unpacked_limit,
                )
                is_new = judgement_import.is_new_judge(session, form.judge.data)
            value = form.checked_value(checked.checksum)
            is_confirmed = form.confirmed.data == value
            with database().transaction(keep=is_confirmed) as session:
                stored = judgement_import.store_judgements(
                    session,
                    slug,
                    checked,
                    judge=form.judge.data,
                    machine=form.facts if form.machine.data else None,
                    added_at=now(),
                )
                note(session, "judgements.import", slug, subject=form.judge.data, details=vars(stored))
    if form.refused:
        return _page(slug, form), form.status
    if not is_confirmed:
        form.confirmed.data = value
        return _page(slug, form, ForeseenLabels(stored, is_new=is_new, formats=formats_summary(Holds.LABELS, files)))
    report_formats(Holds.LABELS, files)
    flash(_outcome(stored))
    if stored.outside:
        flash(gettext("Labels outside the scale, not counted: %(count)d.", count=stored.outside))
    if stored.outside_pool:
        flash(gettext("Labels of documents outside the pool, stored apart: %(count)d.", count=stored.outside_pool))
    return redirect(url_for(".show", slug=slug), 303)


@blueprint.get("/collections/<slug>/judgements/file")
@collection_page(Role.ORGANISER)
def file(slug: str) -> ResponseReturnValue:
    """Every judgement in the format of `?format=`, with names or pseudonyms."""
    name, pseudonyms = request.args.get("format") or "csv", "pseudonyms" in request.args
    with database().reading() as session:
        secret, judge = token_hex(3) if pseudonyms else None, request.args.get("judge", "").strip() or None
        made = judgement_files.judgement_file(session, slug, name, secret=secret, judge=judge)
        content = written(made.pieces)
    note_export("judgements.export", slug, details={"format": name, "pseudonyms": pseudonyms})
    return written_response(content, made.format.media, f"{slug}{made.format.ending}")


def _page(slug: str, form: LabelsForm, foreseen: ForeseenLabels | None = None) -> str:
    with database().reading() as session:
        counts = collection.count_collection(session, slug)
    limit = settings().upload_limit
    return render_template(
        "judging/judgements.html",
        counts=counts,
        form=form,
        foreseen=foreseen,
        upload_limit=limit,
        export=ExportForm(formdata=None),
    )


def _outcome(stored: JudgementImport) -> str:
    return gettext(
        "Labels added: %(added)d, changed: %(changed)d, known already: %(known)d, unjudged (-1): %(unjudged)d. "
        "Documents added to the pool: %(pooled)d.",
        added=stored.added,
        changed=stored.changed,
        known=stored.known,
        unjudged=stored.unjudged,
        pooled=stored.pooled,
    )
