"""`annotator serve`: the pages."""

from dataclasses import replace

import click

from annotator.cli.serving.serving import serve_pages
from annotator.cli.site.installation import Installation, on_installation
from annotator.settings import GREATEST_PORT, LOG_FORMATS


@click.command
@click.option("--host", help="The address to listen on. [127.0.0.1]")
@click.option("--port", type=click.IntRange(1, GREATEST_PORT), metavar="PORT", help="Serve on this port. [8000]")
@click.option("--workers", type=click.IntRange(min=1), help="Processes that answer. [2]")
@click.option("--no-worker", is_flag=True, help="Begin no “annotator worker” beside them: they run elsewhere.")
@click.option(
    "--proxy",
    "proxies",
    type=click.IntRange(min=0),
    metavar="N",
    help="Believe the X-Forwarded headers of N proxies; cookies then travel by HTTPS only.",
)
@click.option("--log-format", type=click.Choice(LOG_FORMATS), help="Write a line for every request. [none]")
@click.option(
    "--metrics-port", type=click.IntRange(0, GREATEST_PORT), help="Serve figures for Prometheus there. [0: nowhere]"
)
@on_installation
def command(
    installation: Installation,
    *,
    host: str | None,
    port: int | None,
    workers: int | None,
    proxies: int | None,
    log_format: str | None,
    metrics_port: int | None,
    no_worker: bool,
) -> None:
    """Serve the pages until Ctrl-C, with two workers beside them for what takes long.

    ANNOTATOR_SECRET_KEY must be set: it signs the sessions. So must ANNOTATOR_SITE_HOSTS, the names of the site, where
    other machines reach the pages: with a --host that is not this machine's own, or behind a --proxy. What is not given
    here is as the settings say, which come from the environment or from the file that ANNOTATOR_SETTINGS names.
    """
    # The processes that answer must not inherit an open connection.
    installation.database.close()
    present = installation.settings
    settings = replace(
        present,
        host=host or present.host,
        port=port or present.port,
        workers=workers or present.workers,
        proxies=present.proxies if proxies is None else proxies,
        log_format=log_format or present.log_format,
        metrics_port=present.metrics_port if metrics_port is None else metrics_port,
        # Behind a proxy the pages are on a network, where a cookie without HTTPS is anybody's.
        secure_cookies=present.secure_cookies or bool(proxies),
    )
    serve_pages(
        settings,
        with_worker=not no_worker,
        when_listening=lambda address: click.echo(f"Listening at {address}", err=True),
    )
