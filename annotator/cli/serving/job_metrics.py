"""The metrics endpoint for Prometheus; imported once the environment names the folder for multiprocess metrics."""

from collections.abc import Iterable
from threading import Thread
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from annotator.storage import Database
from annotator.workflows.site.jobs import count_jobs


class JobsCollector(Collector):
    """Counts the jobs at each scrape."""

    def __init__(self, database: Database) -> None:
        """Keep the database for later scrapes."""
        self._database = database

    def collect(self) -> Iterable[Metric]:
        """The number of jobs in each state."""
        jobs = GaugeMetricFamily("annotator_jobs", "Jobs by state.", labels=["state"])
        with self._database.reading() as session:
            for state, count in count_jobs(session).items():
                jobs.add_metric([state], count)
        yield jobs


def serve(host: str, port: int, database: Database) -> tuple[WSGIServer, Thread]:
    """Serve the metrics in a thread; `OSError` when the address is not available."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # it has no type annotations
    registry.register(JobsCollector(database))
    return start_http_server(port, host, registry)
