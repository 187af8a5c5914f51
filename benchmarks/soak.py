"""A site as it is used for minutes on end: 100 judges who think, a reader of the leaderboard, a run every minute.

Judges think for 0.5 to 1.5 s; the leaderboard is read once a second; an organiser sends a run of 50,000 lines every
minute by the page. Shown every half minute: judgements, memory of each process, size of the database. At the end
`annotator database check --strict` looks at everything, and at every judgement that was acknowledged.

    python -m benchmarks.soak --minutes 10
    python -m benchmarks.soak --minutes 1 --judges 20 --items 5000 --every 15
"""

import argparse
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random

from annotator.settings import sqlite_url
from benchmarks.judging import read_leaderboard
from benchmarks.judging_client import TOKEN, Judging, ask, enter, open_page
from benchmarks.judging_collection import PASSWORD, SLUG, TOPICS, build, judge_name
from benchmarks.served_site import check, memory, site

THINK = (0.5, 1.5)
BETWEEN_LOOKS = 30.0
BATCH = 20  # documents that a judge may hold at the end
BOUNDARY = "of-the-soak"
SHARES = (0.5, 0.95, 0.99, 1)


def main() -> None:
    """Build the collection, use it, and print the results."""
    given = arguments()
    seconds = given.minutes * 60
    items = given.items or TOPICS * (BATCH + int(1.3 * seconds * given.judges / min(given.judges, TOPICS)))
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "soak.sqlite"
        build(sqlite_url(path), items=items, judges=given.judges)
        print(f"{given.judges} judges, {items} documents, {given.minutes:g} minutes", flush=True)
        soak(path, given.judges, items, seconds, given.every)


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--judges", type=int, default=100)
    parser.add_argument("--items", type=int, help="documents in the pool [as many as are judged, and some more]")
    parser.add_argument("--every", type=float, default=60, help="seconds between two runs that are sent [60]")
    return parser.parse_args()


def soak(path: Path, count: int, items: int, seconds: float, every: float) -> None:
    """Use the site for so long, and print what was seen."""
    url = sqlite_url(path)
    with ExitStack() as stack:
        port, process = stack.enter_context(site(url, path.parent))
        organiser = enter(port, "organiser", PASSWORD)
        judges = [
            open_page(port, SLUG, name, enter(port, name, PASSWORD), number % TOPICS + 1)
            for number, name in enumerate(judge_name(one) for one in range(count))
        ]
        shown: list[float] = []
        sent: list[tuple[int, float]] = []
        ends = time.perf_counter() + seconds
        beside = [
            threading.Thread(target=read_leaderboard, args=(port, organiser, seconds, shown)),
            threading.Thread(target=send_runs, args=(port, organiser, items, every, ends, sent)),
            threading.Thread(
                target=look, args=(path, process, ends, lambda: sum(len(one.acknowledged) for one in judges))
            ),
        ]
        for thread in beside:
            thread.start()
        judging = Judging([port], judges, think=THINK)
        took = judging.go_on_for(seconds)
        for thread in beside:
            thread.join()
    acknowledged = [id_ for judge in judges for id_ in judge.acknowledged]
    errors = [error for judge in judges for error in judge.errors]
    print(
        f"judgements: {len(acknowledged)}, {len(acknowledged) / took:.0f} a second; errors: {len(errors)} {errors[:3]}"
    )
    print(f"a judgement: {spread([one for judge in judges for one in judge.latencies])}")
    print(f"the leaderboard: {len(shown)} times of {seconds:.0f}, {spread(shown)}")
    print(f"runs sent: {len(sent)}, answered {sorted({status for status, _ in sent})}, {spread([s for _, s in sent])}")
    print(f"runs that the database has: {count_runs(path)}")
    print(check(url, acknowledged))


def count_runs(path: Path) -> int:
    """How many runs are stored."""
    with sqlite3.connect(path) as database:
        return int(database.execute("SELECT count(*) FROM run").fetchone()[0])


def spread(values: list[float]) -> str:
    """Format the usual percentiles of a list of seconds, in milliseconds."""
    if not values:
        return "nothing measured"
    ordered = sorted(values)
    at = [ordered[min(int(share * len(ordered)), len(ordered) - 1)] * 1000 for share in SHARES]
    return "p50 {:.1f}, p95 {:.1f}, p99 {:.1f}, worst {:.1f} ms".format(*at)


def look(path: Path, process: int, ends: float, judged: Callable[[], int]) -> None:
    """Print memory and sizes again and again."""
    begin = time.perf_counter()
    while True:
        sizes = [f"{one.name.removeprefix(path.stem)} {one.stat().st_size / 1e6:.1f} MB" for one in _files(path)]
        used = [f"{name} {megabytes} MB" for name, megabytes in memory(process).items()]
        print(f"{time.perf_counter() - begin:5.0f} s: {judged()} judgements; {', '.join(sizes + used)}", flush=True)
        left = ends - time.perf_counter()
        if left <= 0:
            return
        time.sleep(min(BETWEEN_LOOKS, left))


def _files(path: Path) -> list[Path]:
    return [one for one in sorted(path.parent.glob(f"{path.name}*")) if not one.name.endswith("-shm")]


def send_runs(port: int, cookie: str, items: int, every: float, ends: float, sent: list[tuple[int, float]]) -> None:
    """Send a new run by the page again and again; the status of each answer, and the seconds it took."""
    number = 0
    while time.perf_counter() + every < ends:
        time.sleep(every)
        number += 1
        page = ask(port, "GET", f"/collections/{SLUG}/runs", cookie)
        cookie = page.headers.get("set-cookie", cookie).partition(";")[0]
        content = form(page.text(), f"sent{number}", run(f"sent{number}", items))
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        begin = time.perf_counter()
        answer = ask(port, "POST", f"/collections/{SLUG}/runs", cookie, content, kind=kind)
        sent.append((answer.status, time.perf_counter() - begin))


def run(tag: str, items: int) -> str:
    """A run that returns the documents of each topic in an order of its own."""
    random = Random(tag)  # noqa: S311 - no secret
    per_topic = items // TOPICS
    lines = []
    for topic in range(TOPICS):
        documents = random.sample(range(topic * per_topic, (topic + 1) * per_topic), min(per_topic, 1_000))
        lines += [f"{topic + 1} Q0 d{number} {rank} {2_000 - rank} {tag}\n" for rank, number in enumerate(documents, 1)]
    return "".join(lines)


def form(page: str, tag: str, content: str) -> bytes:
    """What a browser sends for a run from the page of runs."""
    token = TOKEN.search(page)
    field = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="csrf_token"\r\n\r\n{token[1] if token else ""}\r\n'
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{tag}.run"\r\n\r\n'
    return f"{field}{head}{content}\r\n--{BOUNDARY}--\r\n".encode()


if __name__ == "__main__":
    main()
