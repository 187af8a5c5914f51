"""An upload whose connection breaks off, or whose file was cut short, leaves nothing behind; nobody waits for it."""

import gzip
import socket

from build import SLUG, run_text
from faults.caller import Caller
from faults.judged_site import ORGANISER, is_in_order
from faults.mortal_server import MortalServer
from sqlalchemy import text

from annotator.storage import Database

BOUNDARY = "torn"
RUN = run_text("beta", {"1": [f"d{number}" for number in range(150)]})


def form(token: str, name: str, content: bytes) -> bytes:
    """What a browser sends for the page of runs."""
    fields = {"csrf_token": token, "team": "", "description": ""}
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
        for key, value in fields.items()
    ]
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
    return "".join([*parts, head]).encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()


def count_runs(mortal: MortalServer) -> int:
    database = Database(mortal.settings.database_url)
    with database.reading() as session:
        count = session.scalars(text("SELECT count(*) FROM run")).one()
    database.close()
    return int(count)


def post(mortal: MortalServer, organiser: Caller, body: bytes, share: float) -> bytes:
    """Send a share of a form, and end the connection; what was answered to the whole."""
    head = (
        f"POST /collections/{SLUG}/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {organiser.cookie}\r\n"
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", mortal.port), timeout=30) as connection:
        connection.sendall(head.encode() + body[: int(share * len(body))])
        return connection.recv(1 << 16) if share == 1 else b""


def test_uploads_that_break_off_or_were_cut_short_store_nothing(mortal: MortalServer) -> None:
    ola = Caller(mortal.port, ORGANISER)
    assert ola.sign_in()
    token = ola.token(f"/collections/{SLUG}/runs")
    whole = form(token, "beta.run", RUN)
    for share in (0.0, 0.3, 0.6, 0.99):
        post(mortal, ola, whole, share)
    packed = gzip.compress(RUN)
    for share in (0.2, 0.9):
        post(mortal, ola, form(token, "beta.run.gz", packed[: int(share * len(packed))]), 1)
    assert ola.ask("GET", f"/collections/{SLUG}/runs").status == 200
    assert count_runs(mortal) == 1
    is_in_order(mortal.settings, [])
