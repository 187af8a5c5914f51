"""What the browser tests share: a judged collection, signing in as a person does, and the addresses of all pages."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from build import NOW, PASSWORD, SLUG, labels, member, news, pool, run, topic_file, user
from clicking import interleaving_text, log_text, stored_log
from playwright.sync_api import Locator, Page
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.clicks.workflows.click_logs import LogKind
from annotator.errors import Sentence
from annotator.evaluation.formats.source_answers import SourceOptions
from annotator.evaluation.machine_judging.tokens import Prices
from annotator.evaluation.runs.questionnaires import AnswerKind, RunQuestion
from annotator.evaluation.runs.search_engines import SearchEngine
from annotator.files import InputFile
from annotator.storage import (
    Collection,
    Database,
    Document,
    MachineOutcome,
    MachineResponse,
    MachineRun,
    OutcomeKind,
    PoolItem,
    Question,
    Role,
    Run,
    RunSource,
    ScoresShown,
)
from annotator.storage.documents.sources import (
    FailedFetch,
    documents_to_note,
    find_source,
    note_documents,
    record_failed,
    take_documents,
)
from annotator.storage.people.accounts import find_user
from annotator.storage.runs.run_sources import note_fetched, note_problem
from annotator.storage.runs.runs import RunDetails
from annotator.storage.site.webhooks import SentDelivery, record_deliveries, take_deliveries
from annotator.workflows.agreement import machine_runs, machine_setup
from annotator.workflows.agreement.machine_runs import RunRequest
from annotator.workflows.agreement.machine_setup import MachineSettings
from annotator.workflows.agreement.model_requests import ModelAccess
from annotator.workflows.collections import announcements, collection, webhooks
from annotator.workflows.collections.announcements import NewAnnouncement
from annotator.workflows.collections.collection import CollectionChange, change_collection, read_scale
from annotator.workflows.documents import documents, sources
from annotator.workflows.documents.source_places import Reach
from annotator.workflows.judging import questions
from annotator.workflows.people import invitations, tokens
from annotator.workflows.people.invitations import InvitationRequest
from annotator.workflows.people.tokens import Scope, TokenRequest
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.runs import questionnaires, run_costs, run_sources, submissions, team_questions
from annotator.workflows.runs.engine_requests import EngineAccess
from annotator.workflows.runs.run_costs import ColumnRequest
from annotator.workflows.runs.run_sources import SourceSettings
from annotator.workflows.runs.submissions import SubmissionChange
from annotator.workflows.topics import topic_editing
from annotator.workflows.topics.topic_editing import TopicWords

# Milliseconds that anything may take: the machine may have much else to do.
PATIENCE = 60_000
TEXTS = {f"d{index:02}": f"Document {index} tells of cats.\nIt has a second line." for index in range(12)}
SCALE = "0=Not relevant | Does not help.\n1=Relevant | Helps in part.\n2=Highly relevant | Answers it."
# Every page that a signed-in person can open by an address alone.
ORGANISERS_PAGES = (
    "",
    "/guidelines",
    "/guidelines/edit",
    "/announcements",
    "/announcements/1",
    "/questions",
    "/notes",
    "/training/set-up",
    "/topics",
    "/topics/1",
    "/topics/D1?run=base",
    "/topic-flags",
    "/runs",
    "/runs?show=all",
    "/runs/run?tag=alpha",
    "/runs/receipt?tag=alpha",
    "/submissions",
    "/terms",
    "/documents",
    "/documents/missing",
    "/documents/source",
    "/runs/fetch",
    "/runs/sources/bm25",
    "/runs/sources/bm25/scores?m=P@5",
    "/documents/docnos",
    "/files",
    "/documents/changed",
    "/rounds",
    "/judges/hours",
    "/judges/hours?by=day&from=2026-01-01",
    "/audit",
    "/audit?by=ola&action=pool.build",
    "/search",
    "/search?topic=1&q=cats",
    "/search/document?docno=d01&topic=1&q=cats",
    "/pool",
    "/pool/teams",
    *("/start/topics", "/start/runs", "/start/task", "/start/pool", "/start/judges", "/start/results"),
    "/pool?strategy=stratified",
    "/pool?strategy=sample",
    "/pool/plan?strategy=sample&amount=20",
    "/pool/plan?depth=5&hours=0.1",
    "/pool/plan?strategy=maxmean",
    "/judgements",
    "/agreement",
    "/agreement?weights=quadratic&topics=1",
    "/agreement/pair?first=generous&second=strict",
    "/agreement/documents?first=generous&second=strict&one=0&other=0",
    "/adjudication",
    "/disagreements",
    "/disagreements?topic=1&judge=generous&other=strict&undecided=1",
    "/review/disagreements?undecided=1",
    "/review/judge?judge=generous&grade=1",
    "/judges",
    "/judges/judge?name=generous",
    "/agreement/effect",
    "/agreement/machines",
    "/machine-judges",
    "/machine-judges?like=robot",
    "/machine-judges/robot",
    "/machine-judges/robot/compare",
    "/agreement/effect?m=AP&first=generous&second=strict",
    "/qrels",
    "/qrels/diff?before=1&after=live",
    "/leaderboard",
    "/leaderboard?baseline=alpha&letters=y&interval=bootstrap&qrels=1",
    "/leaderboard?m=P@5&m=NumRet&sort=team&show=best",
    "/leaderboard/run?tag=alpha",
    "/costs",
    "/costs?m=P@5&cost=latency_at@1000000&within=50",
    "/costs/columns",
    "/runs/costs?tag=alpha",
    "/tasks",
    "/questionnaire",
    "/registration",
    "/runs/answers?tag=alpha",
    "/leaderboard/topics",
    "/leaderboard/matrix",
    "/leaderboard/topic?number=1",
    "/leaderboard/pair?first=alpha&second=beta",
    "/significance?m=P@5&baseline=alpha",
    "/significance?qrels=1",
    "/estimates",
    "/estimates?m=P@5&machine=-&baseline=alpha",
    "/report",
    "/jobs",
    "/correlation",
    "/correlation?m=P@5&qrels=1",
    "/quality?fewer=1",
    "/clicks",
    "/clicks/log?name=March",
    "/clicks/log?name=Lists",
    "/together",
    "/pool/holes",
    "/pool/stopping",
    "/pool/stopping?topic=1",
    "/quality/leave-out",
    "/quality/leave-out?whom=run&depth=2",
    "/pool/near-duplicates?topic=1&at_least=0.5",
    "/assigning",
    "/assigning/balance",
    "/gold-questions",
    "/settings/queue",
    "/members",
    "/invitations",
    "/settings",
    "/webhooks",
    "/webhooks/1",
    "/archive",
    "/kit",
)
PARTICIPANTS_PAGES = (
    "",
    "/runs",
    "/runs/run?tag=alpha",
    "/runs/receipt?tag=alpha",
    "/terms",
    "/team",
    "/announcements",
    "/team/questions",
    "/files",
    "/scores?m=AP",
    "/scores/pair",
    "/leaderboard?m=AP&letters=y",
    "/costs",
    "/runs/costs?tag=alpha",
    "/runs/answers?tag=alpha",
    "/topics",
)
JUDGES_PAGES = (
    *("", "/judge", "/judge/topics/1", "/judge/judged", "/judge/put-off", "/judge/notes/1", "/judge/questions"),
    *("/judge/questions/new?topic=1", "/training", "/guidelines", "/announcements"),
)

OBSERVERS_PAGES = (
    *("", "/leaderboard?m=AP&letters=y", "/agreement", "/quality", "/quality/leave-out", "/significance", "/report"),
    "/estimates",
    *("/correlation", "/costs", "/leaderboard/run?tag=alpha", "/leaderboard/topics", "/leaderboard/topic?number=1"),
)
ADJUDICATORS_PAGES = (
    *("", "/adjudicate", "/adjudicate/topics/1", "/adjudicate/review?topic=1", "/judge/judged", "/judge/put-off"),
    "/judge/questions",
)


def cat_collection(database: Database) -> None:
    """Two topics of ten and two documents wanted by two judges; the first labelled by two judges in part."""
    with database.transaction() as session:
        _add(session)


def _add(session: Session) -> None:
    news(session, judgements_wanted=3)
    change_collection(session, SLUG, CollectionChange(scale=read_scale(SCALE)))
    topic_file(session, "1\tcats\tWhich documents tell of cats?\tAny cat will do.\n2\tdogs\n")
    text = "".join(f"{docno}\tTitle of {docno}\t{body}\n" for docno, body in TEXTS.items()).replace(".\nIt", ". It")
    read = documents.read_documents([InputFile("d.tsv", text.encode())], fields={}, unpacked_limit=1 << 20)
    documents.import_documents(session, SLUG, read)
    run(session, "alpha", {"1": list(TEXTS)[:10], "2": ["d10", "notext"]}, team="red")
    run(session, "beta", {"1": list(TEXTS)[:10][::-1], "2": ["d10"]}, team="blue")
    pool(session, depth=10)
    labels(session, "strict", "".join(f"1 0 d{index:02} {index % 2}\n" for index in range(8)))
    labels(session, "generous", "".join(f"1 0 d{index:02} {index % 3}\n" for index in range(10)), name="g.txt")
    topic_editing.add_draft(session, SLUG, "D1", TopicWords("kittens", "Which documents tell of young cats?"))
    run(session, "base", {"D1": list(TEXTS)})
    user(session, "ola", administrator=True)
    member(session, "ola", Role.ORGANISER)
    judge_id = member(session, "jo", Role.JUDGE)
    member(session, "eve", Role.ADJUDICATOR)
    member(session, "oli", Role.OBSERVER)
    invitations.invite(session, SLUG, InvitationRequest(Role.JUDGE, note="Kim"), made_by_id=None, at=datetime.now(UTC))
    tokens.make_token(session, "ola", TokenRequest("script", [Scope.READ]), at=datetime.now(UTC))
    member(session, "pat", Role.PARTICIPANT, team="red")
    kept = qrels.export_qrels(session, SLUG, policy="highest", made_at=NOW)
    qrels_versions.keep_qrels(session, SLUG, kept, made_by_id=None, made_at=NOW)
    submissions.release_scores(session, SLUG, at=NOW + timedelta(days=1), shown=ScoresShown.WHOLE, early=True)
    shared = SubmissionChange(
        corpus="Ask the shelter, or https://cats.example.org.", shares_docnos=True, shares_qrels=True
    )
    submissions.change_submissions(session, SLUG, shared)
    stored_log(session, log_text())
    stored_log(session, interleaving_text(), "Lists", LogKind.INTERLEAVING)
    collection.set_guidelines(session, SLUG, "# Rules\n\n* Be fair.", made_by_id=None, made_at=NOW)
    collection.accept_guidelines(session, SLUG, judge_id, 1)
    stated = {"latency_p95": "48", "latency_at@1000000": "35", "hardware": "8 cores", "price": "12"}
    run_costs.add_column(session, SLUG, ColumnRequest("price", "Price of a day", unit="EUR", better="less"), at=NOW)
    run_costs.change_costs(session, SLUG, "alpha", stated, at=NOW)
    run_costs.change_costs(session, SLUG, "beta", {"latency_p95": "20"}, at=NOW)
    _add_questionnaire(session)
    _add_talk(session)
    _add_webhook(session)
    _add_source(session)
    _add_run_source(session)
    _add_machine_judge(session)


def _add_questionnaire(session: Session) -> None:
    """Questions of every kind, which one run answers in part before one of them is worded differently."""
    asked = [
        RunQuestion("model", "Which model ranks the documents?", AnswerKind.CHOICE, choices=("BM25", "dense")),
        RunQuestion("trained", "Was it trained on these topics?", AnswerKind.YES_NO, required=True),
        RunQuestion("parameters", "How many parameters has it?", AnswerKind.NUMBER),
        RunQuestion("contact", "Whom do we ask about the run?", AnswerKind.EMAIL),
        RunQuestion("other", "What else is there to know?"),
    ]
    questionnaires.set_questionnaire(session, SLUG, asked, made_by_id=None, at=NOW)
    answers = {"model": "BM25", "trained": "no", "contact": "pat@example.org"}
    questionnaires.change_answers(session, SLUG, "alpha", answers, at=NOW)
    # Not required any more, so that other tests send runs without an answer.
    asked[1] = replace(asked[1], text="Was it trained on these or similar topics?", required=False)
    questionnaires.set_questionnaire(session, SLUG, asked, made_by_id=None, at=NOW)


def _add_talk(session: Session) -> None:
    """An announcement for all members; a public answer to a participant, and a question that is open."""
    new = NewAnnouncement(
        "The topics are final", "Thanks for all comments.\n\n* Topic 2 is about *dogs*.", for_everyone=True
    )
    announcements.announce(session, SLUG, new, published_by_id=None, published_at=NOW)
    pat = find_user(session, "pat").id
    for number, run_ in enumerate(("alpha", None)):
        text = f"Do ties count?\n{number}"
        team_questions.ask(session, SLUG, pat, text, client_id=f"t{number}", asked_at=NOW, run=run_)
    session.flush()
    question = session.scalars(select(func.min(Question.id)).where(Question.team_id.is_not(None))).one()
    questions.answer(session, SLUG, question, "They do.", answered_by_id=None, answered_at=NOW, public=True)


def _add_run_source(session: Session) -> None:
    """A source of runs that a worker fetches every day; its last attempt has failed."""
    engine = SearchEngine("https://search.example.org/news/_search", '{"query": {"match": {"body": "{query}"}}}')
    chosen = SourceSettings(engine, "bm25-{date}", RunDetails("red", "BM25 as it runs today"), hour=3)
    access = EngineAccess(("search.example.org",))
    run_sources.set_source(session, SLUG, "bm25", chosen, access, by_id=None, at=NOW)
    source = session.scalars(select(RunSource)).one()
    for tag in ("alpha", "beta"):
        run_id = session.scalars(select(Run.id).where(Run.tag == tag)).one()
        note_fetched(session, source.id, [run_id], at=NOW)
    note_problem(session, source.id, Sentence("No hit has a score at %(path)s.", {"path": "_score"}), at=NOW)


def _add_machine_judge(session: Session) -> None:
    """A machine judge whose run waits for its endpoint, and a document that got no label."""
    settings = MachineSettings("https://models.example.org/v1", "judge-1", prices=Prices(0.5, 1.5, "EUR"))
    access = ModelAccess(("models.example.org",))
    version = machine_setup.add_version(session, SLUG, "robot", settings, access=access, by_id=None, at=NOW)
    other = replace(settings, prompt_name="umbrela", prompt=machine_setup.named_prompt("umbrela"))
    machine_setup.add_version(session, SLUG, "robot", other, access=access, by_id=None, at=NOW)
    started = machine_runs.start_run(session, SLUG, "robot", 1, RunRequest(), by_id=None, at=NOW)
    run_ = session.get_one(MachineRun, started.id)
    run_.labelled, run_.without_grade, run_.requests, run_.tokens_sent, run_.tokens_received = 3, 1, 4, 400, 8
    run_.moved_at, run_.paused_until = NOW + timedelta(minutes=1), NOW + timedelta(hours=1)
    run_.problem = "The endpoint sent nothing."
    item = session.scalars(select(PoolItem).join(Document).where(Document.body.is_not(None)).limit(1)).one()
    named = {"machine_judge_id": version.id, "topic_id": item.topic_id, "document_id": item.document_id}
    outcome = MachineOutcome(**named, kind=OutcomeKind.WITHOUT_GRADE, problem="The response names no grade.", at=NOW)
    outcome.problem_values, outcome.request_digest = {}, "of this request"
    session.add(outcome)
    response = MachineResponse(**named, collection_id=version.collection_id, request_digest="of this request")
    response.text, response.finish, response.probabilities = "It is relevant, I think.", "stop", {}
    response.tokens_sent, response.tokens_received, response.received_at = 100, 6, NOW
    session.add(response)


def _add_source(session: Session) -> None:
    """A source that did not have the document without text."""
    address, reach = "https://corpus.example.org/segments/{docno}", Reach(("corpus.example.org",))
    sources.set_source(session, SLUG, address, SourceOptions(), reach=reach, by_id=None, by_command=True, at=NOW)
    collection_id = session.scalars(select(Collection.id).where(Collection.slug == SLUG)).one()
    source = find_source(session, collection_id)
    assert source is not None
    note_documents(session, source.id, documents_to_note(session, source, most=1), at=NOW)
    due = take_documents(session, source.id, now=NOW, most=1)
    failed = [
        FailedFetch(
            one, "The source does not have this document (HTTP status %(status)d).", {"status": 404}, counts=True
        )
        for one in due
    ]
    record_failed(session, source.id, failed, paused_until=None, at=NOW)


def _add_webhook(session: Session) -> None:
    """A webhook whose receiver was away once."""
    address, host = "https://hooks.example.org/annotator", "hooks.example.org"
    hook = webhooks.add_webhook(session, SLUG, address, webhooks.EVENTS, allowed=[host], by_id=None, at=NOW)
    webhooks.send_test(session, SLUG, hook.number, at=NOW)
    tried = [SentDelivery(one, None, "Connection refused") for one in take_deliveries(session, now=NOW, most=1)]
    record_deliveries(session, tried, at=NOW)


def loaded(page: Page, arrived: Locator) -> None:
    """Wait until the next page shows this and its scripts listen; before that a key would go to nobody."""
    arrived.wait_for()
    # Scripts that are deferred, as all of ours are, run after the words are on the screen and before this.
    page.wait_for_load_state("load")


def eventually(page: Page, is_so: Callable[[], bool]) -> None:
    """Wait until something is so, while the page goes on."""
    end = time.monotonic() + PATIENCE / 1000
    while not is_so():
        assert time.monotonic() < end, "it never came to be so"
        page.wait_for_timeout(50)


def sign_in(page: Page, server: str, name: str, path: str = "/") -> None:
    """Sign in with the keyboard alone, and arrive at `path`."""
    page.goto(f"{server}/sign-in?next={path}")
    page.locator("[name=name]").focus()
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url.startswith(f"{server}{path}") and "/sign-in" not in url)
