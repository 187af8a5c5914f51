"""The release kit: a finished collection as one file to publish, and who is behind its pseudonyms."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileField, FileRequired
from wtforms import BooleanField, SelectChoice, SelectField, StringField, TextAreaField

from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.evaluation.publishing.kit_files import Publication
from annotator.installed import installed_version
from annotator.moments import write_moment
from annotator.storage import Role
from annotator.web.leaderboard.kit_download import check_zipped_kit, zipped_kit
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note_export
from annotator.web.site.background import JOB_KIND, leave_form, work
from annotator.web.site.context import database, now
from annotator.web.site.downloads import CSV, ZIP, download
from annotator.web.site.forms import Form, done
from annotator.web.site.language import gettext, lazy_gettext
from annotator.web.site.uploads import names_of
from annotator.workflows.leaderboard.leaderboard import split_names
from annotator.workflows.leaderboard.release_kit import collection_veil, veil_csv, version_to_publish
from annotator.workflows.qrels.qrels_versions import VersionView, list_versions

blueprint = Blueprint("release_kit", __name__)


class KitForm(Form):
    """What is published, and how."""

    version = SelectField(
        lazy_gettext("Qrels"),
        choices=(),
        coerce=int,
        validate_choice=False,  # the workflow rejects unknown versions
        description=lazy_gettext("Scores are computed from this version. Later judgements do not change the kit."),
    )
    veiled = BooleanField(
        lazy_gettext("Replace the names of teams and runs by pseudonyms"),
        description=lazy_gettext("They stay the same in each release. Descriptions of runs are left out."),
    )
    allowed = TextAreaField(
        lazy_gettext("Names that may occur in texts"),
        description=lazy_gettext(
            "With pseudonyms, nothing is published while a text, such as the guidelines, has a name of a team or run. "
            "Enter names that are ordinary words there, one per line."
        ),
        render_kw={"rows": 2, "spellcheck": "false"},
    )
    texts = BooleanField(
        lazy_gettext("Include the texts of the documents"),
        description=lazy_gettext("Only if their licence allows it. Without them the kit lists the docnos."),
    )
    measures = StringField(
        lazy_gettext("Measures"),
        default=", ".join(DEFAULT_MEASURES),
        render_kw={"autocapitalize": "none", "spellcheck": "false"},
    )
    authors = TextAreaField(
        lazy_gettext("Authors"),
        description=lazy_gettext(
            "Who is cited: one per line, as “Family, Given” or the name of a group. Empty: the organisers of the task."
        ),
        render_kw={"rows": 2, "spellcheck": "false"},
    )
    licence = StringField(
        lazy_gettext("Licence"),
        description=lazy_gettext("An SPDX identifier such as CC-BY-4.0, or an address."),
        render_kw={"spellcheck": "false"},
    )
    address = StringField(
        lazy_gettext("Address"),
        description=lazy_gettext("Where the kit will be published, if known."),
        render_kw={"inputmode": "url", "spellcheck": "false"},
    )

    def publication(self, slug: str) -> Publication:
        """What the form asks for, as of now."""
        return Publication(
            slug=slug,
            version=self.version.data,
            veiled=self.veiled.data,
            with_texts=self.texts.data,
            measures=tuple(split_names(self.measures.data)) if self.measures.data else DEFAULT_MEASURES,
            authors=_lines(self.authors.data),
            licence=(self.licence.data or "").strip(),
            address=(self.address.data or "").strip(),
            made_at=now(),
            program=installed_version(),
        )


class CheckForm(Form):
    """A kit to compare with the database."""

    file = FileField(
        lazy_gettext("Release kit"),
        [FileRequired()],
        description=lazy_gettext("The zip file of a kit, as it was made or packed again."),
        render_kw={"accept": ".zip"},
    )


def _lines(text: str | None) -> tuple[str, ...]:
    return tuple(line.strip() for line in (text or "").splitlines() if line.strip())


@blueprint.get("/collections/<slug>/kit")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The forms, with the version of released scores or else the newest."""
    return _page(slug, CheckForm(formdata=None))


def _page(slug: str, checking: CheckForm) -> str:
    with database().reading() as session:
        versions = list_versions(session, slug)
        usual = version_to_publish(session, slug) if versions else None
    form = KitForm(formdata=None, version=usual)
    form.version.choices = _choices(versions)
    return render_template("leaderboard/release_kit.html", form=form, checking=checking, versions=versions)


def _choices(versions: list[VersionView]) -> list[SelectChoice]:
    return [
        SelectChoice(
            one.number,
            gettext("Version %(number)d of the qrels, kept %(at)s", number=one.number, at=write_moment(one.made_at)),
        )
        for one in versions
    ]


@blueprint.post("/collections/<slug>/kit")
@collection_page(Role.ORGANISER)
def publish(slug: str) -> ResponseReturnValue:
    """The kit as a zip file, written by the worker."""
    if work() is None:
        return leave_form(slug)
    form = KitForm()
    if form.version.data is None:
        form.version.data = database().read(version_to_publish, slug)
    publication = form.publication(slug)
    content = zipped_kit(publication, _lines(form.allowed.data))
    note_export("collections.publish", slug, details=publication.noted)
    return download(content, f"{slug}-kit.zip", ZIP)


@blueprint.post("/collections/<slug>/kit/check")
@collection_page(Role.ORGANISER)
def check(slug: str) -> ResponseReturnValue:
    """Compare a kit, as a zip file, with what the database gives now; the worker does it."""
    form, files = CheckForm(), 0
    if form.validate():
        if work() is None:
            return leave_form(slug)
        with form.guard():
            files = check_zipped_kit(slug, names_of([form.file.data]), form.file.data.stream)
    if form.refused:
        return _page(slug, form), form.status
    return done(
        gettext("The kit is what the database gives. Files compared: %(files)d.", files=files), ".show", slug=slug
    )


@blueprint.get("/collections/<slug>/kit/pseudonyms.csv")
@collection_page(Role.ORGANISER)
def pseudonyms(slug: str) -> ResponseReturnValue:
    """Which pseudonym belongs to which team and run, for organisers."""
    table = veil_csv(database().read(collection_veil, slug))
    note_export("collections.show-pseudonyms", slug)
    return download(table, f"{slug}-pseudonyms.csv", CSV)


setattr(publish, JOB_KIND, "release_kit.publish")
setattr(check, JOB_KIND, "release_kit.check")
