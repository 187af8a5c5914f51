"""Documents that nearly repeat each other, and identical ones: one topic at a time, for it takes a moment."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from annotator.errors import AnnotatorError, InvalidValueError
from annotator.storage import Role
from annotator.web.site.access import collection_page
from annotator.web.site.context import database
from annotator.web.site.error_pages import status_of
from annotator.workflows.documents import near_duplicates
from annotator.workflows.documents.near_duplicates import USUALLY_AT_LEAST

blueprint = Blueprint("near_duplicates", __name__)

MOST_PAIRS_SHOWN = 200
# That takes about two seconds, for which nobody should wait longer; the command compares any number.
MOST_CHARACTERS = 4_000_000
# Texts from one template are all similar, and as many pairs as there can be: comparing these takes a second.
MOST_COMPARED = 50_000


@blueprint.get("/collections/<slug>/pool/near-duplicates")
@collection_page(Role.ORGANISER)
def show(slug: str) -> ResponseReturnValue:
    """What repeats what in one topic, from a similarity on: `?topic=401&at_least=0.9`."""
    number, wanted = request.args.get("topic", ""), request.args.get("at_least", str(USUALLY_AT_LEAST))
    found, refused = None, None
    with database().reading() as session:
        numbers = near_duplicates.topics_to_compare(session, slug)
        try:
            if number:
                found = near_duplicates.show_likeness(
                    session,
                    slug,
                    number,
                    _share(wanted),
                    most_characters=MOST_CHARACTERS,
                    most_compared=MOST_COMPARED,
                )
        except AnnotatorError as refusal:
            refused = refusal
    page = render_template(
        "documents/near_duplicates.html",
        numbers=numbers,
        number=number,
        wanted=wanted,
        found=found,
        refused=refused,
        most=MOST_PAIRS_SHOWN,
    )
    return page if refused is None else (page, status_of(refused))


def _share(written: str) -> float:
    try:
        return float(written)
    except ValueError:
        raise InvalidValueError("The similarity is from 0.5 to 1, not %(given)s.", given=written) from None
