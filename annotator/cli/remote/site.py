"""Commands on a remote site, by address and token; its errors are shown like those of local commands."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

import click

from annotator.cli.remote.given import GIVEN, SiteGiven
from annotator.cli.site.arguments import refuse_what_is_no_text
from annotator.cli.site.progress import progress_shown
from annotator.client import Site

Options = ParamSpec("Options")


def on_site(command: Callable[Concatenate[Site, Options], None]) -> Callable[Options, None]:
    """Pass the site to a command as its first argument, and close the client afterwards."""

    @wraps(command)
    def with_site(*args: Options.args, **options: Options.kwargs) -> None:
        context = click.get_current_context()
        refuse_what_is_no_text(context)
        given = _given(context)
        site = Site(given.address, given.token, watch=lambda name: progress_shown(f"{name}: the site is at work"))
        command(context.with_resource(site), *args, **options)

    return with_site


def _given(context: click.Context) -> SiteGiven:
    given = context.meta.get(GIVEN)
    if not isinstance(given, SiteGiven):
        raise click.UsageError("This works on a site: give --site URL, or set ANNOTATOR_SITE.")
    return given
