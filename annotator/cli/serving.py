"""Serving the pages: granian, its workers, and the word when they listen."""

import atexit
import gc
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from typing import Any

from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server import Server
from granian.server.common import AbstractServer

from annotator.cli.monitoring import figures_served
from annotator.cli.worker_beside import worker_beside
from annotator.errors import AnnotatorError
from annotator.settings import Settings, refuse_same_port, refuse_weak_key

APPLICATION = "annotator.app:wsgi"
# What the pages are served through, imported where they are.
GATEWAY = "annotator.web.gateway"
DATABASE = "annotator.database"  # where the pages keep theirs
GARBAGE_BEFORE_A_LOOK = 10_000  # objects
SECONDS_BETWEEN_TRIES = 0.05
SECONDS_TO_FINISH_REQUESTS = 10
SECONDS_BETWEEN_LOOKS = 1.0
# What logging.config reads in place of granian's own handlers, which write to standard output.
TALK = {"class": "logging.StreamHandler", "formatter": "generic", "stream": "ext://sys.stderr"}
TALK_IN_JSON = {"generic": {"()": "annotator.logs.JsonLines"}}


class AddressNotFreeError(AnnotatorError):
    """Nothing can be served there."""


def serve_pages(settings: Settings, *, with_worker: bool = True, when_listening: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; `when_listening` is told the address once, when the first process answers.

    Raises `InvalidValueError` without a secret key that nobody guesses or with one port for two things, and
    `AddressNotFreeError` when the address cannot be had.
    """
    refuse_weak_key(settings)
    refuse_same_port(settings)
    host, port = settings.host, settings.port
    _refuse_if_taken(host, port)
    # The processes that answer read the settings again. They begin afresh on every platform: a forked one would have
    # its parent's way with signals until it serves, and sleep through one that comes while it imports.
    os.environ.update(settings.to_environment())
    # NumPy's threads would only wait for each other while the processes use every core.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    multiprocessing.set_start_method("spawn", force=True)
    server = _server(settings)
    server.on_startup(lambda: _call_when_listening(host, port, when_listening))
    with figures_served(settings), worker_beside() if with_worker else nullcontext():
        server.serve(target_loader=_load_pages)


def _server(settings: Settings) -> AbstractServer[Any]:
    talk: dict[str, object] = {"handlers": {"console": TALK, "access": TALK}}
    if settings.log_format == "json":
        talk["formatters"] = TALK_IN_JSON
    return Server(
        APPLICATION,
        # The pages are bound by the processor, and more threads would only wait for SQLite's lock: a process has one,
        # which the gateway gives to one whole request after the other.
        interface=Interfaces.ASGINL,
        address=settings.host,
        port=settings.port,
        workers=settings.workers,
        respawn_failed_workers=True,
        workers_kill_timeout=SECONDS_TO_FINISH_REQUESTS,
        log_level=LogLevels.warning,
        log_dictconfig=talk,
        websockets=False,
    )


def _load_pages(application: str) -> Callable[..., object]:
    """Make the application, in a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of Ctrl-C, which the parent gets as well
    threading.Thread(target=_end_without_parent, args=(os.getppid(),), daemon=True).start()
    module, _, factory = application.partition(":")
    pages = getattr(import_module(module), factory)()
    gateway: Callable[..., object] = import_module(GATEWAY).Gateway(pages, Settings.from_environment())
    atexit.register(_leave, pages)
    # What is there now stays: to look through all of it for garbage, again and again, took a tenth of the time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_BEFORE_A_LOOK, *gc.get_threshold()[1:])
    return gateway


def _leave(pages: Any) -> None:  # noqa: ANN401 - Flask's, which this part does not import
    """End this process when it has answered all: to take Python down under granian's threads makes them panic."""
    pages.extensions[DATABASE].close()
    sys.stderr.flush()
    os._exit(0)


def _end_without_parent(parent: int) -> None:
    """End this worker when its parent was killed and could end nobody: it would go on, and keep the port."""
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_FINISH_REQUESTS)
    os._exit(1)


def _refuse_if_taken(host: str, port: int) -> None:
    # granian's workers share a port, so that a second server would start beside the first and take half its requests.
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise AddressNotFreeError(
            "Nothing can be served at %(host)s, port %(port)d: %(reason)s. Choose another with --host or --port.",
            host=host,
            port=port,
            reason=error.strerror,
        ) from error


def _call_when_listening(host: str, port: int, when_listening: Callable[[str], None]) -> None:
    """Try to connect, in a thread that ends with the program: granian says nothing when its workers are ready."""

    def wait() -> None:
        while not _listens(host, port):
            time.sleep(SECONDS_BETWEEN_TRIES)
        when_listening(f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/")

    threading.Thread(target=wait, daemon=True).start()


def _listens(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=1):
            return True
    except OSError:
        return False
