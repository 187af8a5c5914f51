"""A real local server for tests: it calls one method for every request, and prints nothing."""

import json
import threading
from abc import ABC, abstractmethod
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOST = "127.0.0.1"


class LocalServer(ABC):
    """Serves at a free port until it is closed; a subclass says how it answers."""

    def __init__(self) -> None:
        """Begin to serve: what `answer` needs must be there."""
        respond = self.answer

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                respond(self)

            def do_POST(self) -> None:
                respond(self)

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """Print nothing: clients go away."""

        self.server = Server((HOST, 0), Handler)
        # It looks that often, in seconds, whether it is to be closed: Python's half a second makes each test as long.
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def site(self) -> str:
        """The beginning of its addresses."""
        return f"http://{HOST}:{self.server.server_port}"

    @abstractmethod
    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer a request."""

    def close(self) -> None:
        """Stop serving."""
        self.server.shutdown()
        self.server.server_close()


def body_of(request: BaseHTTPRequestHandler) -> bytes:
    """The body of a request; it can be read once."""
    return request.rfile.read(int(request.headers["Content-Length"]))


def send(request: BaseHTTPRequestHandler, body: bytes, *, status: int = 200, **headers: str) -> None:
    """Send an answer; headers are named with underscores."""
    request.send_response(status)
    for name, value in {"Content_Length": str(len(body)), **headers}.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    request.wfile.write(body)


def send_json(request: BaseHTTPRequestHandler, value: object) -> None:
    """Send a value as JSON."""
    send(request, json.dumps(value).encode())
