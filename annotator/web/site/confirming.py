"""The page between a form and its effect: it shows the effect in numbers and sends the form again, confirmed."""

from collections.abc import Mapping, Sequence

from flask import render_template, request

CONFIRMED = "confirmed"
# Each page has a new token.
NOT_REPEATED = {CONFIRMED, "csrf_token"}


def is_confirmed() -> bool:
    """Whether the form was sent from the page that shows its effect."""
    return request.form.get(CONFIRMED) == "y"


def confirmation(
    title: str, *, figures: Mapping[str, str] | None = None, notes: Sequence[str] = (), button: str, back: str
) -> str:
    """The page that shows an effect, with the fields of the form as they were sent; files cannot be among them."""
    fields = [(name, value) for name, value in request.form.items(multi=True) if name not in NOT_REPEATED]
    return render_template(
        "site/confirm.html",
        title=title,
        figures=figures or {},
        notes=notes,
        action=request.full_path.rstrip("?"),
        fields=fields,
        button=button,
        back=back,
    )
