"""The address for Prometheus: what the processes that answer have counted, added up, and how many jobs there are."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from annotator.errors import AnnotatorError
from annotator.settings import Settings
from annotator.storage import Database

# The library looks for it when it is first imported; each process keeps its counts in a file there.
FOLDER = "PROMETHEUS_MULTIPROC_DIR"


class MetricsAddressError(AnnotatorError):
    """The figures cannot be served there."""


@contextmanager
def figures_served(settings: Settings) -> Iterator[None]:
    """Serve the figures while the block lasts, if they are to be; what begins in it finds where to count."""
    if not settings.metrics_port:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="annotator-figures-") as folder:
        os.environ[FOLDER] = folder
        database = Database(settings.database_url)
        figures = import_module("annotator.cli.site.figures")
        try:
            server, thread = figures.serve(settings.host, settings.metrics_port, database)
        except OSError as error:
            raise MetricsAddressError(
                "The figures cannot be served at %(host)s, port %(port)d: %(reason)s. Choose another --metrics-port.",
                host=settings.host,
                port=settings.metrics_port,
                reason=error.strerror,
            ) from error
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
            database.close()
