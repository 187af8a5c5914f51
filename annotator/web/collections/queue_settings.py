"""Settings for distributing judging work, and their cost in judgements."""

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import RadioField, SelectChoice
from wtforms.validators import InputRequired, NumberRange

from annotator.storage import JudgingMode, Role
from annotator.web.collections.judging_hours import more_judging, settings_confirmation
from annotator.web.site.access import collection_page
from annotator.web.site.audit_note import note
from annotator.web.site.context import database, the_place
from annotator.web.site.forms import Form, WholeNumberField, is_confirmed
from annotator.web.site.labels import JUDGING_MODES, POLICIES
from annotator.web.site.language import gettext, lazy_gettext
from annotator.workflows.collections import queue_settings
from annotator.workflows.collections.collection import consensus_policies
from annotator.workflows.collections.queue_settings import MOST_COMMON_ITEMS, WHOLE, QueueChange

blueprint = Blueprint("queue_settings", __name__)

PERCENT = {"min": 0, "max": WHOLE, "inputmode": "numeric"}
a_share = [InputRequired(), NumberRange(0, WHOLE, lazy_gettext("Write a number from 0 to 100."))]


def mode_choices() -> list[SelectChoice]:
    """Both modes of distributing the work, with explanations."""
    does = {
        JudgingMode.SHARED: gettext(
            "Any judge draws from any topic, a few documents at a time, until every document has enough "
            "judgements. No extra cost; judges may understand a topic differently."
        ),
        JudgingMode.OWNED: gettext(
            "Each topic has an owner who judges all of it. Grades within a topic are consistent; a topic "
            "takes as long as its owner, and waits without one."
        ),
    }
    return [SelectChoice(mode.value, f"{JUDGING_MODES[mode]}: {sentence}") for mode, sentence in does.items()]


class QueueForm(Form):
    """The mode and the shares of double judging."""

    judging_mode = RadioField(lazy_gettext("Distribution of topics"), [InputRequired()], choices=mode_choices)
    overlap_share = WholeNumberField(
        lazy_gettext("Overlap, in percent"),
        a_share,
        description=lazy_gettext(
            "This share is judged twice; the second judge does not know. Measures agreement between "
            "judges; costs one more judgement for each of these documents."
        ),
        render_kw=PERCENT,
    )
    reshow_share = WholeNumberField(
        lazy_gettext("Shown again, in percent"),
        a_share,
        description=lazy_gettext(
            "This share of what a judge has judged is shown to them again after a day or later, as if "
            "new. Measures how consistent each judge is; costs one more judgement for each of these "
            "documents. The second judgement changes no grade."
        ),
        render_kw=PERCENT,
    )
    common_items = WholeNumberField(
        lazy_gettext("Common documents of each topic"),
        [InputRequired(), NumberRange(0, MOST_COMMON_ITEMS)],
        description=lazy_gettext(
            "Documents of each topic that every judge of the topic judges. Compares all judges on the "
            "same documents; costs this many judgements per judge and topic."
        ),
        render_kw={"min": 0, "inputmode": "numeric"},
    )

    def change(self) -> QueueChange:
        """The change that was entered."""
        return QueueChange(
            queue_settings.read_mode(self.judging_mode.data),
            self.overlap_share.data,
            self.reshow_share.data,
            self.common_items.data,
        )


@blueprint.get("/collections/<slug>/settings/queue")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """The settings of the queue and the resulting work."""
    present = the_place().collection
    form = QueueForm(
        judging_mode=present.judging_mode.value,
        overlap_share=present.overlap_share,
        reshow_share=present.reshow_share,
        common_items=present.common_items,
    )
    return _page(slug, form)


@blueprint.post("/collections/<slug>/settings/queue")
@collection_page(Role.ORGANISER)
def change(slug: str) -> ResponseReturnValue:
    """Store changed settings, after confirmation if they add judging work."""
    form = QueueForm()
    if form.validate():
        with form.guard():
            if not is_confirmed() and (more := more_judging(slug, form.change())) is not None:
                return settings_confirmation(more)
            # Comparing a large pool with the settings takes a while and must not block other writers.
            foreseen = database().read(queue_settings.foresee_queue, slug, form.change())
            with database().transaction() as session:
                policy = queue_settings.change_queue(session, slug, form.change(), foreseen=foreseen)
                changed = vars(form.change()) | ({"consensus_policy": policy} if policy else {})
                note(session, "collections.set", slug, details=changed)
    if form.refused:
        return _page(slug, form), form.status
    flash(gettext("Settings saved."))
    if policy:
        flash(gettext("The consensus policy is now: %(policy)s.", policy=POLICIES[policy]))
    return redirect(url_for(".show", slug=slug), 303)


def _page(slug: str, form: QueueForm) -> str:
    cost = database().read(queue_settings.queue_cost, slug)
    settled = consensus_policies().get(the_place().collection.consensus_policy)
    return render_template("collections/collection/queue.html", form=form, cost=cost, settled=settled)
