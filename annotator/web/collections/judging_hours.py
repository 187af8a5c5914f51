"""The cost in judging hours shown on confirmation pages."""

from collections.abc import Mapping

from flask import request

from annotator.storage.judging.progress import Effort
from annotator.web.site.context import database
from annotator.web.site.forms import confirmation
from annotator.web.site.language import format_number, gettext
from annotator.workflows.collections import collection
from annotator.workflows.collections.collection import CollectionChange
from annotator.workflows.collections.queue_settings import MoreJudging, QueueChange
from annotator.workflows.pools.pool_planning import PoolGrowth


def judging_figures(judgements: int, effort: Effort) -> Mapping[str, str]:
    """The number of judgements and their estimated hours, by label."""
    hours, price = effort.hours(judgements), effort.price(judgements)
    figures = {
        gettext("Judgements required"): format_number(judgements),
        gettext("Hours of judging"): format_number(hours, 1 if hours >= 1 else 2),
    }
    if price is not None:
        figures[gettext("Price, about")] = f"{format_number(round(price))} {effort.currency}"
    return figures


def pace_note(effort: Effort) -> str:
    """The basis of the estimated hours."""
    seconds = format_number(effort.seconds, 1)
    if effort.is_measured:
        return gettext(
            "Hours are the total of all judges, at %(seconds)s seconds per judgement (median so far).", seconds=seconds
        )
    return gettext(
        "Hours are the total of all judges, assuming %(seconds)s seconds per judgement: too few were measured so far.",
        seconds=seconds,
    )


def growth_confirmation(growth: PoolGrowth, *, back: str) -> str:
    """The confirmation page between the pool form and building the pool."""
    figures = {
        gettext("Documents that join the pool"): format_number(growth.documents),
        gettext("Topics with new documents"): format_number(growth.topics),
    }
    if growth.to_come:
        figures[gettext("Of these, chosen adaptively")] = format_number(growth.to_come)
    return confirmation(
        gettext("Add these documents to the pool?"),
        figures={**figures, **judging_figures(growth.judgements, growth.effort)},
        notes=[
            pace_note(growth.effort),
            gettext("This version of the pool can be deleted as long as nobody has judged its documents."),
        ],
        button=gettext("Add them to the pool"),
        back=back,
    )


def more_judging(slug: str, change: CollectionChange | QueueChange) -> MoreJudging | None:
    """The judging work that a change of settings adds; None when it adds none."""
    if isinstance(change, CollectionChange) and change.judgements_wanted is None:
        return None
    more = database().read(collection.foresee_change, slug, change)
    return more if more.judgements > 0 else None


def settings_confirmation(more: MoreJudging) -> str:
    """The confirmation page for settings that add judging work."""
    return confirmation(
        gettext("Give judges more to judge?"),
        figures=judging_figures(more.judgements, more.effort),
        notes=[
            pace_note(more.effort),
            gettext("Complete documents go back to judges until they have the new number of judgements."),
        ],
        button=gettext("Save the settings"),
        back=request.path,
    )
