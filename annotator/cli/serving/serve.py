"""`annotator serve`: serve the web pages and the API."""

from dataclasses import replace

import click

from annotator.cli.serving.serving import serve_pages
from annotator.cli.site.installation import Installation, on_installation
from annotator.settings import GREATEST_PORT, LOG_FORMATS


@click.command
@click.option("--host", help="The address to listen on. [127.0.0.1]")
@click.option("--port", type=click.IntRange(1, GREATEST_PORT), metavar="PORT", help="The port to listen on. [8000]")
@click.option("--workers", type=click.IntRange(min=1), help="The number of processes that answer requests. [2]")
@click.option("--no-worker", is_flag=True, help="Start no “annotator worker” processes: they run elsewhere.")
@click.option(
    "--proxy",
    "proxies",
    type=click.IntRange(min=0),
    metavar="N",
    help="Trust the X-Forwarded headers of N proxies; cookies are then sent by HTTPS only.",
)
@click.option("--log-format", type=click.Choice(LOG_FORMATS), help="Write an access log. [none]")
@click.option(
    "--metrics-port", type=click.IntRange(0, GREATEST_PORT), help="Serve metrics for Prometheus on this port. [0: none]"
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
    """Serve the site until Ctrl-C, with two workers for long jobs.

    ANNOTATOR_SECRET_KEY must be set: it signs the sessions. So must ANNOTATOR_SITE_HOSTS, the names of the site, if
    other machines reach it: with a --host that is not local, or behind a --proxy. Options that are not given are taken
    from the settings, from the environment or from the file that ANNOTATOR_SETTINGS names.
    """
    # Server processes must not inherit an open connection.
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
        # Behind a proxy the pages are on a network, where a cookie without HTTPS can be read by anyone.
        secure_cookies=present.secure_cookies or bool(proxies),
    )
    serve_pages(
        settings,
        with_worker=not no_worker,
        when_listening=lambda address: click.echo(f"Listening at {address}", err=True),
    )
