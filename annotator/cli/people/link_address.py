"""Where the pages are served, for links that a command makes; a command cannot know that by itself."""

from urllib.parse import urlencode, urlsplit

import click

JOIN = "/join?"


def _checked(context: click.Context, parameter: click.Parameter, address: str) -> str:
    try:
        parts = urlsplit(address)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.query or parts.fragment:
        raise click.BadParameter("It is no address such as https://annotator.example.org.", context, parameter)
    return address.rstrip("/")


at_address = click.option(
    "--address",
    metavar="URL",
    default="http://127.0.0.1:8000",
    show_default=True,
    callback=_checked,
    help="Where the pages are served: what the links begin with.",
)


def link_to(address: str, secret: str) -> str:
    """The link of a secret."""
    return address + JOIN + urlencode({"key": secret})
