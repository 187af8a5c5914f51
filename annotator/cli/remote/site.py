"""Commands on a remote site, by address and token; its errors are shown like those of local commands."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import click

from annotator.cli.remote.given import GIVEN, SiteGiven
from annotator.cli.site.installation import Installation, on_installation, refuse_what_is_no_text
from annotator.cli.site.progress import progress_shown
from annotator.client import Site

Options = ParamSpec("Options")
Stored = TypeVar("Stored")
Remote = TypeVar("Remote")


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


def on_database_or_site(
    stored: Callable[[Installation], Stored], remote: Callable[[Site], Remote]
) -> Callable[[Callable[Concatenate[Stored | Remote, Options], None]], Callable[Options, None]]:
    """Pass a command `remote(site)` if --site is given, otherwise `stored(installation)`, as its first argument.

    The options and the output of such a command are the same for both.
    """

    def on_either(command: Callable[Concatenate[Stored | Remote, Options], None]) -> Callable[Options, None]:
        @on_site
        def there(site: Site, /, *args: Options.args, **options: Options.kwargs) -> None:
            command(remote(site), *args, **options)

        @on_installation
        def here(installation: Installation, /, *args: Options.args, **options: Options.kwargs) -> None:
            command(stored(installation), *args, **options)

        @wraps(command)
        def with_either(*args: Options.args, **options: Options.kwargs) -> None:
            is_on_site = GIVEN in click.get_current_context().meta
            (there if is_on_site else here)(*args, **options)

        return with_either

    return on_either


def _given(context: click.Context) -> SiteGiven:
    given = context.meta.get(GIVEN)
    if not isinstance(given, SiteGiven):
        raise click.UsageError("This works on a site: give --site URL, or set ANNOTATOR_SITE.")
    return given
