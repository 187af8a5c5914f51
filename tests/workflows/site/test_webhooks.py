"""Webhooks: what happens in a collection is sent to a real local server, signed, repeated, and never twice."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from build import NOW, SLUG, labels, news, pool, run, topic_file, user
from hypothesis import given
from hypothesis import strategies as st
from kept import Kept
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session
from standardwebhooks import Webhook as Receiver
from standardwebhooks import WebhookVerificationError
from worker.at_work import settings_of

from annotator.errors import AnnotatorError
from annotator.storage import (
    Database,
    DeletedKind,
    Event,
    FinishedTopic,
    Job,
    JobState,
    TopicCounts,
    Webhook,
    WebhookDelivery,
)
from annotator.storage.collections.audit import Actor
from annotator.storage.site.jobs import MOST_FAILURES
from annotator.storage.site.webhooks import (
    LONGEST_ATTEMPT,
    PAUSES,
    DueDelivery,
    SentDelivery,
    forget_deliveries,
    take_deliveries,
)
from annotator.storage.tables.collections import Door
from annotator.worker.delivering import Delivering, signed_headers
from annotator.worker.working import Worker
from annotator.workflows.collections import restoring, webhooks
from annotator.workflows.collections.deletions import delete_it
from annotator.workflows.collections.webhooks import EVENTS, NewWebhook
from annotator.workflows.judging.topic_counting import count_changed_topics
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.site import jobs
from annotator.workflows.site.jobs import Outcome

HOSTS = ("127.0.0.1",)


class Listener:
    """A server that records what it gets, and answers with the next of its statuses; 204 when there are no more."""

    def __init__(self) -> None:
        """Serve at a free port."""
        self.statuses: list[int] = []
        self.received: list[tuple[dict[str, str], bytes]] = []
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                listener.received.append((dict(self.headers), body))
                status = listener.statuses.pop(0) if listener.statuses else 204
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}/hook"

    @property
    def events(self) -> list[dict[str, object]]:
        """The received events."""
        return [json.loads(body) for _, body in self.received]


@pytest.fixture
def listener() -> Iterator[Listener]:
    """A local server to send to."""
    made = Listener()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def pooled(database: Database, kept: Kept) -> Database:
    """Topics 1 and 2 with a pool of one document each, none judged."""
    kept.fill(database, add_pool)
    return database


def add_pool(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
        run(session, "alpha", {"1": ["a"], "2": ["a"]})
        pool(session)


def hooked(database: Database, listener: Listener, events: Sequence[Event] = EVENTS) -> NewWebhook:
    with database.transaction() as session:
        return webhooks.add_webhook(
            session, SLUG, listener.address, events, allowed=HOSTS, by_id=None, at=datetime.now(UTC)
        )


def deliver(database: Database) -> None:
    delivering = Delivering(database, HOSTS)
    while delivering.step():
        pass


def make_due(database: Database) -> None:
    """Let the pauses be over."""
    with database.transaction() as session:
        session.execute(
            update(WebhookDelivery).where(WebhookDelivery.next_at.is_not(None)).values(next_at=datetime.now(UTC))
        )


def rows(database: Database) -> list[WebhookDelivery]:
    with database.reading() as session:
        return list(session.scalars(select(WebhookDelivery).order_by(WebhookDelivery.id)))


def test_a_received_run_is_announced_with_a_signature_that_another_library_accepts(
    pooled: Database, listener: Listener
) -> None:
    hook = hooked(pooled, listener)
    with pooled.transaction() as session:
        run(session, "beta", {"1": ["a"]}, team="red")
    deliver(pooled)
    [(headers, body)] = listener.received
    event = Receiver(hook.secret).verify(body, headers)
    assert event["type"] == "run.received"
    assert {name: event["data"][name] for name in ("collection", "tag", "version", "team")} == {
        "collection": SLUG,
        "tag": "beta",
        "version": 1,
        "team": "red",
    }
    with pytest.raises(WebhookVerificationError):
        Receiver(hook.secret).verify(body.replace(b"beta", b"zeta"), headers)
    with pytest.raises(WebhookVerificationError):
        Receiver("whsec_" + "A" * 44).verify(body, headers)
    [row] = rows(pooled)
    assert (row.status, row.attempts, row.next_at) == (204, 1, None)


def test_kept_qrels_are_announced(pooled: Database, listener: Listener) -> None:
    hooked(pooled, listener, [Event.QRELS_KEPT])
    with pooled.transaction() as session:
        labels(session, "jo", "1 0 a 1\n")
    made = pooled.read(qrels.export_qrels, SLUG, made_at=NOW)
    with pooled.transaction() as session:
        qrels_versions.keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)
    deliver(pooled)
    assert [(one["type"], one["data"]) for one in listener.events] == [
        ("qrels.kept", {"collection": SLUG, "version": 1, "grades": 1})
    ]


def test_a_topic_is_announced_when_it_is_finished_and_once(pooled: Database, listener: Listener) -> None:
    with pooled.transaction() as session:
        labels(session, "jo", "1 0 a 1\n")  # before there is a webhook
    hooked(pooled, listener, [Event.TOPIC_FINISHED])
    deliver(pooled)
    assert listener.events == []
    with pooled.transaction() as session:
        labels(session, "jo", "2 0 a 1\n")
    deliver(pooled)
    deliver(pooled)
    assert [one["data"] for one in listener.events] == [{"collection": SLUG, "topic": "2"}]


def test_a_topic_that_gets_new_documents_is_announced_again(pooled: Database, listener: Listener) -> None:
    hooked(pooled, listener, [Event.TOPIC_FINISHED])
    deliver(pooled)
    with pooled.transaction() as session:
        labels(session, "jo", "2 0 a 1\n")
    deliver(pooled)
    with pooled.transaction() as session:
        run(session, "beta", {"2": ["b"]})
        pool(session)
    deliver(pooled)
    with pooled.transaction() as session:
        labels(session, "jo", "2 0 b 0\n")
    deliver(pooled)
    assert [one["data"] for one in listener.events] == [{"collection": SLUG, "topic": "2"}] * 2


def test_what_is_not_asked_for_is_not_sent(pooled: Database, listener: Listener) -> None:
    hooked(pooled, listener, [Event.QRELS_KEPT])
    with pooled.transaction() as session:
        run(session, "beta", {"1": ["a"]})
    deliver(pooled)
    assert rows(pooled) == []


def test_what_is_rolled_back_is_not_sent(pooled: Database, listener: Listener) -> None:
    hooked(pooled, listener)
    with pooled.transaction(keep=False) as session:
        run(session, "beta", {"1": ["a"]})
    deliver(pooled)
    assert listener.received == []


@pytest.mark.parametrize("status", [302, 400, 404, 429, 500, 503])
def test_what_is_not_accepted_is_sent_again_as_the_same_message(
    pooled: Database, listener: Listener, status: int
) -> None:
    hook = hooked(pooled, listener)
    with pooled.transaction() as session:
        webhooks.send_test(session, SLUG, hook.number, at=datetime.now(UTC))
    listener.statuses = [status]
    deliver(pooled)
    [row] = rows(pooled)
    assert (row.status, row.attempts, row.delivered_at) == (status, 1, None)
    assert row.next_at is not None
    assert timedelta(seconds=5) < row.next_at - datetime.now(UTC) <= PAUSES[0]
    assert (row.problem != "") == (status == 302)
    make_due(pooled)
    deliver(pooled)
    first, second = listener.received
    assert first[1] == second[1]
    assert first[0]["webhook-id"] == second[0]["webhook-id"]
    [row] = rows(pooled)
    assert (row.status, row.attempts, row.next_at) == (204, 2, None)


def test_a_receiver_that_never_accepts_is_given_up(pooled: Database, listener: Listener) -> None:
    hook = hooked(pooled, listener)
    with pooled.transaction() as session:
        webhooks.send_test(session, SLUG, hook.number, at=datetime.now(UTC))
    listener.statuses = [500] * 20
    for _ in range(12):
        make_due(pooled)
        deliver(pooled)
    assert len(listener.received) == 8
    [shown] = pooled.read(webhooks.list_webhooks, SLUG)
    assert (shown.delivered, shown.waiting, shown.given_up) == (0, 0, 1)


def test_an_address_that_is_gone_is_given_up_at_once(pooled: Database, listener: Listener) -> None:
    hook = hooked(pooled, listener)
    with pooled.transaction() as session:
        webhooks.send_test(session, SLUG, hook.number, at=datetime.now(UTC))
    listener.statuses = [410]
    deliver(pooled)
    [row] = rows(pooled)
    assert (row.status, row.next_at) == (410, None)


def test_a_server_that_is_away_is_tried_again(pooled: Database, listener: Listener) -> None:
    hook = hooked(pooled, listener)
    with pooled.transaction() as session:
        webhooks.send_test(session, SLUG, hook.number, at=datetime.now(UTC))
    listener.server.shutdown()
    listener.server.server_close()
    deliver(pooled)
    [row] = rows(pooled)
    assert (row.status, row.attempts) == (None, 1)
    assert "refused" in row.problem
    assert row.next_at is not None


def test_an_address_is_refused_again_when_it_is_no_longer_allowed(pooled: Database, listener: Listener) -> None:
    hook = hooked(pooled, listener)
    with pooled.transaction() as session:
        webhooks.send_test(session, SLUG, hook.number, at=datetime.now(UTC))
    Delivering(pooled, ()).step()
    assert listener.received == []
    [row] = rows(pooled)
    assert row.problem.startswith("This server may not send to “127.0.0.1”")


def test_two_workers_send_a_delivery_once(pooled: Database, listener: Listener) -> None:
    hook, at = hooked(pooled, listener), datetime.now(UTC)
    with pooled.transaction() as session:
        webhooks.send_test(session, SLUG, hook.number, at=at)
    with pooled.transaction() as session:
        assert len(take_deliveries(session, now=at, most=9)) == 1
    with pooled.transaction() as session:
        assert take_deliveries(session, now=at, most=9) == []
        # The first worker was lost.
        [again] = take_deliveries(session, now=at + LONGEST_ATTEMPT, most=9)
    assert again.attempt == 2


def test_a_removed_webhook_gets_nothing_more(pooled: Database, listener: Listener) -> None:
    hook = hooked(pooled, listener)
    with pooled.transaction() as session:
        webhooks.send_test(session, SLUG, hook.number, at=datetime.now(UTC))
    with pooled.transaction() as session:
        assert webhooks.remove_webhook(session, SLUG, hook.number) == listener.address
    deliver(pooled)
    assert (listener.received, rows(pooled)) == ([], [])


def test_deliveries_that_ended_are_kept_for_a_month(pooled: Database, listener: Listener) -> None:
    hook, at = hooked(pooled, listener), datetime.now(UTC)
    with pooled.transaction() as session:
        webhooks.send_test(session, SLUG, hook.number, at=at)
    deliver(pooled)
    for days, left in ((29, 1), (31, 0)):
        with pooled.transaction() as session:
            forget_deliveries(session, now=at + timedelta(days=days))
        assert len(rows(pooled)) == left


def test_the_worker_sends_while_it_waits_for_jobs(pooled: Database, listener: Listener) -> None:
    hook = hooked(pooled, listener)
    with pooled.transaction() as session:
        webhooks.send_test(session, SLUG, hook.number, at=datetime.now(UTC))
    settings = settings_of(pooled)
    object.__setattr__(settings, "outgoing_hosts", HOSTS)
    Worker(settings).work(only_what_waits=True)
    assert [one["type"] for one in listener.events] == ["test"]


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("", "“” is not an address of the form https://example.org/path."),
        ("hooks.example.org", "“hooks.example.org” is not an address"),
        ("ftp://hooks.example.org/", "“ftp://hooks.example.org/” is not an address"),
        ("https://hooks.example.org:x/", "“https://hooks.example.org:x/” is not an address"),
        ("https://hooks example.org/", "“https://hooks example.org/” is not an address"),
        ("https://hooks..example.org/", "“https://hooks..example.org/” is not an address"),
        (f"https://{'x' * 64}.example.org/", f"“https://{'x' * 64}.example.org/” is not an address"),
        ("https://ola:secret@hooks.example.org/", "The address has a user name or a password"),
        ("https://elsewhere.org/", "This server may not send to “elsewhere.org”"),
        ("https://hooks.example.org.evil.org/", "This server may not send to “hooks.example.org.evil.org”"),
        ("http://127.0.0.1/", "This server may not send to “127.0.0.1”"),
        ("http://[::1]/", "This server may not send to “::1”"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(pooled: Database, address: str, sentence: str) -> None:
    with pytest.raises(AnnotatorError) as refused, pooled.transaction() as session:
        webhooks.add_webhook(
            session, SLUG, address, EVENTS, allowed=("hooks.example.org",), by_id=None, at=datetime.now(UTC)
        )
    assert str(refused.value).startswith(sentence)
    assert pooled.read(webhooks.list_webhooks, SLUG) == []


def test_a_name_that_leads_into_the_own_network_is_refused(
    pooled: Database, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "annotator.workflows.site.outgoing.socket.getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("10.0.0.7", 80))]
    )
    with pooled.transaction() as session:
        hook = webhooks.add_webhook(
            session, SLUG, "http://hooks.example.org/", EVENTS, allowed=("hooks.example.org",), by_id=None, at=NOW
        )
        webhooks.send_test(session, SLUG, hook.number, at=NOW)
    Delivering(pooled, ("hooks.example.org",)).step()
    [row] = rows(pooled)
    assert row.problem.startswith("“hooks.example.org” leads to the private address 10.0.0.7")
    assert listener.received == []


def test_no_events_and_too_many_webhooks_are_refused(pooled: Database, listener: Listener) -> None:
    with pytest.raises(AnnotatorError, match="Choose at least one event"):
        hooked(pooled, listener, [])
    for _ in range(20):
        hooked(pooled, listener)
    with pytest.raises(AnnotatorError, match="at most 20 webhooks"):
        hooked(pooled, listener)


DUE = DueDelivery(1, 1, "https://hooks.example.org/", "whsec_" + "A" * 43 + "=", "msg_1", "{}")


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_every_body_is_signed_as_another_library_signs_it(body: str) -> None:
    due, at = DueDelivery(1, 1, DUE.address, DUE.secret, "msg_1", body), datetime.now(UTC)
    assert signed_headers(due, at)["webhook-signature"] == Receiver(DUE.secret).sign("msg_1", at, body)


@given(st.integers(1, 20), st.none() | st.integers(100, 599))
def test_attempts_end(attempt: int, status: int | None) -> None:
    sent = SentDelivery(DueDelivery(1, attempt, "", "", "", ""), status)
    again = sent.next_at(NOW)
    assert (again is None) == (attempt > 7 or status == 410 or (status is not None and 200 <= status < 300))
    assert again is None or again > NOW


def asked(database: Database) -> int:
    """A job that waits for a worker."""
    with database.transaction() as session:
        ola = user(session, "ola")
        return jobs.ask_job(session, SLUG, kind="report.file", parameters={}, by_id=ola, at=NOW)


def ends_done(session: Session, _id: int) -> None:
    taken = jobs.take_job(session, now=NOW)
    assert taken is not None
    jobs.finish_job(session, taken, Outcome(JobState.DONE), now=NOW)


def ends_given_up(session: Session, id_: int) -> None:
    session.execute(update(Job).where(Job.id == id_).values(failures=MOST_FAILURES))
    assert jobs.take_job(session, now=NOW) is None


def ends_cancelled(session: Session, id_: int) -> None:
    jobs.cancel_job(session, SLUG, id_, at=NOW)


@pytest.mark.parametrize(
    ("end", "state"), [(ends_done, "done"), (ends_given_up, "failed"), (ends_cancelled, "cancelled")]
)
def test_the_end_of_a_job_is_announced_whatever_it_is(
    pooled: Database, listener: Listener, end: Callable[[Session, int], None], state: str
) -> None:
    hooked(pooled, listener, [Event.JOB_FINISHED])
    id_ = asked(pooled)
    with pooled.transaction() as session:
        end(session, id_)
    deliver(pooled)
    assert [one["data"] for one in listener.events] == [
        {"collection": SLUG, "job": id_, "kind": "report.file", "state": state}
    ]


def test_a_later_webhook_is_not_told_what_was_finished_before(pooled: Database, listener: Listener) -> None:
    hooked(pooled, listener, [Event.RUN_RECEIVED])
    earlier = hooked(pooled, listener, [Event.TOPIC_FINISHED])
    deliver(pooled)
    with pooled.transaction() as session:
        webhooks.remove_webhook(session, SLUG, earlier.number)
    with pooled.transaction() as session:
        labels(session, "jo", "2 0 a 1\n")
    hooked(pooled, listener, [Event.TOPIC_FINISHED])
    deliver(pooled)
    assert listener.events == []


def test_a_purged_collection_takes_its_webhooks_along(pooled: Database, listener: Listener) -> None:
    hook = hooked(pooled, listener)
    count_changed_topics(pooled)
    with pooled.transaction() as session:
        webhooks.send_test(session, SLUG, hook.number, at=NOW)
        labels(session, "jo", "2 0 a 1\n")
    Delivering(pooled, ()).step()
    with pooled.transaction() as session:
        delete_it(session, SLUG, DeletedKind.COLLECTION, [], typed=SLUG, actor=Actor(Door.COMMAND, "root"), at=NOW)
    with pooled.transaction() as session:
        restoring.begin_removal(session, before=NOW + timedelta(days=1), at=NOW + timedelta(days=1))
    restoring.finish_removals(pooled)
    with pooled.reading() as session:
        for table in (Webhook, WebhookDelivery, FinishedTopic, TopicCounts):
            assert session.scalars(select(func.count()).select_from(table)).one() == 0, table
