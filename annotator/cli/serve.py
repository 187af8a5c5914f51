"""`annotator serve`: the pages."""

import click

from annotator.cli.installation import Installation, on_installation
from annotator.cli.serving import serve_pages


@click.command
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535))
@click.option("--workers", default=2, show_default=True, type=click.IntRange(min=1), help="Processes that answer.")
@on_installation
def command(installation: Installation, host: str, port: int, workers: int) -> None:
    """Serve the pages until Ctrl-C. ANNOTATOR_SECRET_KEY must be set: it signs the sessions."""
    # Forked workers must not inherit an open connection.
    installation.database.close()
    serve_pages(
        installation.settings,
        host=host,
        port=port,
        workers=workers,
        when_listening=lambda address: click.echo(f"Listening at {address}", err=True),
    )
