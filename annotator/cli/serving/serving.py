"""Serves the site: the socket, server processes, workers and Prometheus metrics."""

import gc
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, Final

from uvicorn import Config, Server

from annotator.cli.serving.heap import return_freed_memory
from annotator.cli.serving.supervisor import SECONDS_TO_FINISH_REQUESTS, Beats, Supervisor
from annotator.errors import AnnotatorError
from annotator.logs import write_log
from annotator.settings import (
    Settings,
    refuse_incomplete_mail,
    refuse_incomplete_provider,
    refuse_same_port,
    refuse_site_without_name,
    refuse_weak_key,
)
from annotator.storage import Database

SECONDS_TO_END = 10
SECONDS_BEFORE_AGAIN = 3.0

# Options of the two workers: one takes any job; the other only short ones, which need not wait for long ones.
WORKERS: Final = ((), ("--short",))
# Read by prometheus_client on import; each process keeps its metrics in a file in that folder.
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
# Imported by name: commands do not import the web pages.
APPLICATION = "annotator.app"
GATEWAY = "annotator.web.serving.gateway"
CONNECTIONS = "annotator.web.serving.connections"
DATABASE = "annotator.database"  # the key of the application's database
GARBAGE_BEFORE_A_LOOK = 10_000  # objects
WAITING_CONNECTIONS = 2_048
# After each statement a judgement waits for the GIL while a page is computed: with Python's default
# switch interval of 5 ms the p95 of judgements is half as long again.
SECONDS_BETWEEN_THREADS = 0.0005


class AddressNotFreeError(AnnotatorError):
    """The address cannot be bound."""


def serve_pages(settings: Settings, *, with_worker: bool = True, when_listening: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; `when_listening` is called with the address once the first process answers.

    Raises `InvalidValueError` without a strong secret key, with one port for two things, when other machines reach a
    site without a configured name, and with half of the settings of a provider of sign-in or of e-mail;
    `AddressNotFreeError` when the address cannot be bound, and `NothingAnswersError` when no process can answer.
    """
    refuse_weak_key(settings)
    refuse_same_port(settings)
    refuse_site_without_name(settings)
    refuse_incomplete_provider(settings)
    refuse_incomplete_mail(settings)
    host, port = settings.host, settings.port
    address = f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
    with _listening(host, port) as listener:
        # Server processes and workers read the settings again.
        os.environ.update(settings.to_environment())
        # NumPy's threads would only contend while the processes use every core.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        write_log(settings.log_format)
        return_freed_memory()
        with figures_served(settings), ExitStack() as beside:
            answer = _Pages(settings, listener, _loaded_pages())

            def begin_beside() -> None:
                when_listening(address)
                # Started afterwards, so that workers do not delay the first response.
                if with_worker:
                    beside.enter_context(workers_beside())

            Supervisor(settings.workers, answer, begin_beside).run()


def _loaded_pages() -> Any:  # noqa: ANN401 - of modules that no command imports
    """The modules of the web pages, loaded once and shared by the server processes; no connection is open yet."""
    gc.disable()  # nothing loaded here is garbage
    pages = import_module(APPLICATION).wsgi()
    for module in (GATEWAY, CONNECTIONS):
        import_module(module)
    gc.enable()
    # Move all objects loaded so far out of garbage collection: scanning them took a tenth of the time.
    gc.collect()
    gc.freeze()
    return pages


class _Pages:
    """The work of a server process."""

    def __init__(self, settings: Settings, listener: socket.socket, pages: Any) -> None:  # noqa: ANN401 - the Flask application, which no command imports
        self._settings = settings
        self._listener = listener
        self._pages = pages

    def __call__(self, beats: Beats) -> None:
        """Answer requests until SIGTERM."""
        gc.set_threshold(GARBAGE_BEFORE_A_LOOK, *gc.get_threshold()[1:])
        sys.setswitchinterval(SECONDS_BETWEEN_THREADS)
        config = Config(
            import_module(GATEWAY).Gateway(self._pages, self._settings),
            loop="uvloop",
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level="error",  # no line for each malformed request
            access_log=False,
            proxy_headers=False,  # proxy headers are handled by the application, as configured
            server_header=False,
            timeout_graceful_shutdown=int(SECONDS_TO_FINISH_REQUESTS),
            **import_module(CONNECTIONS).connection_options(self._settings.connections_per_address),
        )
        # The server handles SIGTERM while it runs, and raises it again in this process when it ends.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _BeatingServer(config, beats).run(sockets=[self._listener])
        self._pages.extensions[DATABASE].close()


class _BeatingServer(Server):
    """A uvicorn server that reports each turn of its event loop, about ten per second."""

    def __init__(self, config: Config, beats: Beats) -> None:
        super().__init__(config)
        self._beats = beats

    async def on_tick(self, counter: int) -> bool:
        """Report a turn of the event loop; the periodic task of uvicorn."""
        self._beats.turn()
        return await super().on_tick(counter)


def _listening(host: str, port: int) -> socket.socket:
    """The listening socket, shared by all processes."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(WAITING_CONNECTIONS)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise AddressNotFreeError(
            "Nothing can be served at %(host)s, port %(port)d: %(reason)s. Choose another with --host or --port.",
            host=host,
            port=port,
            reason=error.strerror,
        ) from error
    return listener


class MetricsAddressError(AnnotatorError):
    """The metrics cannot be served at that address."""


@contextmanager
def figures_served(settings: Settings) -> Iterator[None]:
    """Serve the metrics during the block, if configured, with the environment set for processes started in it."""
    if not settings.metrics_port:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="annotator-figures-") as folder:
        os.environ[FOLDER] = folder
        database = Database(settings.database_url)
        figures = import_module("annotator.cli.serving.job_metrics")
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


@contextmanager
def workers_beside() -> Iterator[None]:
    """Keep the workers running during the block; they read their settings from this process's environment."""
    all_beside = [_Beside(options) for options in WORKERS]
    keeping = [threading.Thread(target=beside.keep, daemon=True) for beside in all_beside]
    for thread in keeping:
        thread.start()
    try:
        yield
    finally:
        for beside in all_beside:
            beside.ask_to_end()
        for beside in all_beside:
            beside.wait()
        for thread in keeping:
            thread.join()


class _Beside:
    """Keeps one worker process running."""

    def __init__(self, options: Sequence[str]) -> None:
        self._options = options
        self._ending = threading.Event()
        self._beginning = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def keep(self) -> None:
        """Start a worker, and another one whenever it ends unexpectedly."""
        while (process := self._begin()) is not None:
            process.wait()
            self._ending.wait(SECONDS_BEFORE_AGAIN)

    def ask_to_end(self) -> None:
        """Terminate the worker, whose job goes to the next one; no further worker is started."""
        with self._beginning:
            self._ending.set()
        if self._process is not None:
            self._process.terminate()

    def wait(self) -> None:
        """Wait some time for the worker to end; then kill it."""
        if self._process is None:
            return
        try:
            self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _begin(self) -> subprocess.Popen[bytes] | None:
        with self._beginning:
            if self._ending.is_set():
                return None
            command = [sys.executable, "-m", "annotator", "worker", "--parent", str(os.getpid()), *self._options]
            # In a session of its own it does not get Ctrl-C, and it ends once, by `end`.
            self._process = subprocess.Popen(command, start_new_session=True)  # noqa: S603 - our own command
            return self._process
