"""Commands that work on a database or on a remote site, with the same options and output."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import click

from annotator.cli.remote.given import GIVEN
from annotator.cli.remote.site import on_site
from annotator.cli.site.installation import Installation, on_installation
from annotator.client import Site

Options = ParamSpec("Options")
Stored = TypeVar("Stored")
Remote = TypeVar("Remote")


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
