"""Serving the pages: the socket, the processes that answer, the workers beside them and the metrics for Prometheus."""

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

from annotator.cli.serving.supervisor import SECONDS_TO_FINISH_REQUESTS, Beats, Supervisor
from annotator.errors import AnnotatorError
from annotator.logs import write_log
from annotator.settings import Settings, refuse_same_port, refuse_site_without_name, refuse_weak_key
from annotator.storage import Database

SECONDS_TO_END = 10
SECONDS_BEFORE_AGAIN = 3.0

# The options of each: one takes any job, the other only short ones, which so do not wait while a long one runs.
WORKERS: Final = ((), ("--short",))
# The library looks for it when it is first imported; each process keeps its counts in a file there.
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
# Imported by name: no command imports the pages.
APPLICATION = "annotator.app"
GATEWAY = "annotator.web.serving.gateway"
CONNECTIONS = "annotator.web.serving.connections"
DATABASE = "annotator.database"  # where the pages keep theirs
GARBAGE_BEFORE_A_LOOK = 10_000  # objects
WAITING_CONNECTIONS = 2_048
# A judgement waits for Python's lock after each of its statements while a page is computed beside it: at Python's usual
# 5 ms a judge's p95 is half as long again.
SECONDS_BETWEEN_THREADS = 0.0005


class AddressNotFreeError(AnnotatorError):
    """Nothing can be served there."""


def serve_pages(settings: Settings, *, with_worker: bool = True, when_listening: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; `when_listening` is told the address once, when the first process answers.

    Raises `InvalidValueError` without a secret key that nobody guesses, with one port for two things, and when other
    machines reach a site that no setting names; `AddressNotFreeError` when the address cannot be had, and
    `NothingAnswersError` when no process can answer.
    """
    refuse_weak_key(settings)
    refuse_same_port(settings)
    refuse_site_without_name(settings)
    host, port = settings.host, settings.port
    address = f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
    with _listening(host, port) as listener:
        # The processes that answer, and the workers, read the settings again.
        os.environ.update(settings.to_environment())
        # NumPy's threads would only wait for each other while the processes use every core.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        write_log(settings.log_format)
        with figures_served(settings), ExitStack() as beside:
            answer = _Pages(settings, listener, _loaded_pages())

            def begin_beside() -> None:
                when_listening(address)
                # Not before: they would take the processor from the first answer.
                if with_worker:
                    beside.enter_context(workers_beside())

            Supervisor(settings.workers, answer, begin_beside).run()


def _loaded_pages() -> Any:  # noqa: ANN401 - of modules that no command imports
    """The pages, which the processes that answer share; nothing is open in them yet."""
    gc.disable()  # until all of it is there, nothing of it is garbage
    pages = import_module(APPLICATION).wsgi()
    for module in (GATEWAY, CONNECTIONS):
        import_module(module)
    gc.enable()
    # What is there now stays: to look through it for garbage, again and again, took a tenth of the time.
    gc.collect()
    gc.freeze()
    return pages


class _Pages:
    """What a process runs that answers."""

    def __init__(self, settings: Settings, listener: socket.socket, pages: Any) -> None:  # noqa: ANN401 - the library's own type
        self._settings = settings
        self._listener = listener
        self._pages = pages

    def __call__(self, beats: Beats) -> None:
        """Answer until SIGTERM."""
        gc.set_threshold(GARBAGE_BEFORE_A_LOOK, *gc.get_threshold()[1:])
        sys.setswitchinterval(SECONDS_BETWEEN_THREADS)
        config = Config(
            import_module(GATEWAY).Gateway(self._pages, self._settings),
            loop="uvloop",
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level="error",  # no line for each request that is none
            access_log=False,
            proxy_headers=False,  # believed where the settings say so, in the pages
            server_header=False,
            timeout_graceful_shutdown=int(SECONDS_TO_FINISH_REQUESTS),
            **import_module(CONNECTIONS).connection_options(self._settings.connections_per_address),
        )
        # The server handles it while it runs, and sends it to this process once more at its end.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _BeatingServer(config, beats).run(sockets=[self._listener])
        self._pages.extensions[DATABASE].close()


class _BeatingServer(Server):
    """A server that tells of each turn of its event loop, some ten a second."""

    def __init__(self, config: Config, beats: Beats) -> None:
        super().__init__(config)
        self._beats = beats

    async def on_tick(self, counter: int) -> bool:
        """Do what is due between requests."""
        self._beats.turn()
        return await super().on_tick(counter)


def _listening(host: str, port: int) -> socket.socket:
    """The socket at which all processes take connections, each when it is free to."""
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
    """Keep the workers running while the block lasts; they read their settings from this process's environment."""
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
    """One worker at a time."""

    def __init__(self, options: Sequence[str]) -> None:
        self._options = options
        self._ending = threading.Event()
        self._beginning = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def keep(self) -> None:
        """Begin a worker, and another when one ends that was not asked to."""
        while (process := self._begin()) is not None:
            process.wait()
            self._ending.wait(SECONDS_BEFORE_AGAIN)

    def ask_to_end(self) -> None:
        """Tell the worker to end, which leaves what it has in hand to the next one; none is begun any more."""
        with self._beginning:
            self._ending.set()
        if self._process is not None:
            self._process.terminate()

    def wait(self) -> None:
        """Wait until the worker has ended, for a while; then kill it."""
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
            # In a session of its own Ctrl-C does not reach it, and it ends once, by `end`.
            self._process = subprocess.Popen(command, start_new_session=True)  # noqa: S603 - our own command
            return self._process
