"""The strategy `cal` at work: a worker trains after judgements, judges go on, and every choice can be replayed."""

import io
from collections.abc import Sequence
from random import Random

import pytest
from adaptive import AdaptiveJudge, chosen
from beginning import beginning
from build import NOW, SLUG, build, member, news, run, topic_file
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.pooling.learned_order import LearnedOrder
from annotator.files import InputFile
from annotator.storage import (
    Collection,
    Contribution,
    Database,
    Document,
    JudgingMode,
    LearningRound,
    Pool,
    PoolItem,
    SelectionEvent,
    Topic,
)
from annotator.storage.judging.leases import return_assignments
from annotator.storage.judging.topic_judgements import judgements_then, stored_judgements
from annotator.storage.pools.pools import PoolRequest
from annotator.storage.pools.samples import target_set
from annotator.worker.learning import Learning
from annotator.workflows.collections.archive_export import Archiving, write_archive
from annotator.workflows.collections.archive_import import import_archive, open_archive
from annotator.workflows.collections.collection import close_collection
from annotator.workflows.collections.queue_settings import QueueChange, change_queue
from annotator.workflows.documents import documents
from annotator.workflows.pools import learning, pool_replay, pool_selection
from annotator.workflows.pools.learning import LearningMemory
from annotator.workflows.pools.pool_replay import is_long_replay, replay_choices
from annotator.workflows.pools.pool_selection import Memory
from annotator.workflows.pools.pools import selection_progress
from annotator.workflows.pools.run_overlap import overlap_report
from annotator.workflows.qrels.stopping import StoppingRequest, stopping_report
from annotator.workflows.runs.runs import restore_run, withdraw_run

LIMIT = 10**6
SOLAR = ("panels on roofs give solar power", "solar cells of silicon", "batteries keep solar power at night")
OTHERS = ("a striker scored twice", "the bank raised its rates", "rain in the hills", "a novel about whales")


def is_relevant(docno: str) -> int:
    return int(docno.startswith("s"))


def text_of(docno: str) -> str:
    number = int(docno[1:])
    return f"{(SOLAR if is_relevant(docno) else OTHERS)[number % 3]} in city{number}"


def documents_file(session: Session, docnos: Sequence[str]) -> None:
    lines = "".join(f"{docno}\t\t{text_of(docno)}\n" for docno in docnos)
    read = documents.read_documents([InputFile("documents.tsv", lines.encode())], fields={}, unpacked_limit=LIMIT)
    documents.import_documents(session, SLUG, read)


@beginning
def solar_news(session: Session) -> None:
    """Twelve relevant documents among sixty, most of them far down in the only run; six more in no run."""
    news(session)
    topic_file(session, "1\tsolar power\n")
    others = [f"o{number}" for number in range(48)]
    documents_file(session, [f"s{number}" for number in range(18)] + others)
    run(session, "A", {"1": [*others[:24], *(f"s{number}" for number in range(12)), *others[24:]]})


def learning_pool(database: Database, said: dict[str, str | int] | None = None) -> AdaptiveJudge:
    """A judge of a pool by `cal`, with these parameters beside a budget."""
    with database.transaction() as session:
        solar_news(session)
        build(session, PoolRequest("cal", {"budget": 60, "start_depth": 1, **(said or {})}))
        return AdaptiveJudge(database, member(session, "jo"), is_relevant)


def trained(database: Database) -> bool:
    return Learning(database).step()


def rounds(database: Database) -> list[tuple[int, int, int]]:
    """Number, batch and known judgements of the last round of each topic."""
    with database.reading() as session:
        return [(one.number, one.batch, one.judgements) for one in session.scalars(select(LearningRound))]


def reasons(database: Database) -> list[dict[str, object]]:
    with database.reading() as session:
        return [event.reason for event in session.scalars(select(SelectionEvent).order_by(SelectionEvent.step))]


def worked(judge: AdaptiveJudge, most: int) -> list[str]:
    """Judge one document after the other, with a worker that trains whenever a round is due."""
    worker = Learning(judge.database)
    shown: list[str] = []
    while len(shown) < most:
        while worker.step():
            pass
        shown += judge.work(most=1)
    return shown


def differences(database: Database) -> int:
    with database.reading() as session:
        return len(replay_choices(session, SLUG).differences)


@pytest.mark.parametrize("batch", ["1", "grow"])
def test_relevant_documents_come_first_though_the_run_has_them_last(database: Database, batch: str) -> None:
    judge = learning_pool(database, {"batch": batch})
    shown = worked(judge, 24)
    assert sum(map(is_relevant, shown)) == 12
    assert differences(database) == 0


def test_without_a_worker_documents_come_by_reciprocal_rank(database: Database) -> None:
    judge = learning_pool(database)
    # Eight are drawn at once, and shown in an order of their own.
    assert set(judge.work(most=9)) <= {f"o{number}" for number in range(17)}
    assert {tuple(sorted(reason)) for reason in reasons(database)} == {
        ("fused", "rank", "relevant_from", "run", "runs_left_out")
    }
    assert differences(database) == 0


def test_a_choice_is_kept_with_its_round_score_and_training(database: Database) -> None:
    judge = learning_pool(database)
    assert trained(database)
    judge.work(most=2)
    with database.reading() as session:
        last = session.scalars(select(LearningRound)).one()
        found = session.scalars(select(Contribution)).all()
        event = session.scalars(select(SelectionEvent).where(SelectionEvent.step == 1)).one()
        docno = session.scalars(select(Document.docno).join(PoolItem).where(PoolItem.id == event.pool_item_id)).one()
    assert {name: event.reason[name] for name in ("round", "rank", "training", "policy")} == {
        "round": 1, "rank": 1, "training": last.training_hash, "policy": "majority",
    }  # fmt: skip
    assert is_relevant(docno)
    assert event.seen_judgement_id is None
    assert {one.rank for one in found if one.pool_item_id == event.pool_item_id} <= set(range(25, 37))
    assert differences(database) == 0


def test_a_round_ends_after_as_many_judgements_as_its_batch_has(database: Database) -> None:
    judge = learning_pool(database)
    seen = []
    for judged in range(7):
        trained(database)
        seen += rounds(database)
        assert not trained(database)
        if judged < 6:
            judge.work(most=1)
    # Batches of 1, 2, 3, 4: the sixth judgement ends the third.
    assert seen == [(1, 1, 0), (2, 2, 1), (2, 2, 1), (3, 3, 3), (3, 3, 3), (3, 3, 3), (4, 4, 6)]


def test_a_batch_of_one_hands_out_one_document_at_a_time(database: Database) -> None:
    judge = learning_pool(database, {"batch": "1", "start_depth": 0})
    trained(database)
    first = judge.next()
    assert first is not None
    with database.reading() as session:
        assert len(chosen(session)) // 2 in {1, 2}  # docnos have two or three characters
    judge.judge(first, 1)
    assert trained(database)
    assert rounds(database) == [(2, 1, 1)]


def test_a_changed_mind_is_learned_like_a_new_judgement(database: Database) -> None:
    judge = learning_pool(database)
    trained(database)
    task = judge.next()
    assert task is not None
    judge.judge(task, 0)
    assert trained(database)
    with database.reading() as session:
        before = session.scalars(select(LearningRound)).one().training_hash
    judge.judge(task, 2)
    judge.judge(task, 1)
    assert trained(database)
    with database.reading() as session:
        assert session.scalars(select(LearningRound)).one().training_hash != before
    worked(judge, 12)
    assert differences(database) == 0


def test_documents_of_a_withdrawn_run_are_not_chosen_from_an_earlier_round(database: Database) -> None:
    judge = learning_pool(database)
    with database.transaction() as session:
        run(session, "B", {"1": [f"s{number}" for number in range(12, 18)]})
        build(session, PoolRequest("cal", {"budget": 60, "start_depth": 1}))
    trained(database)
    with database.transaction() as session:
        withdraw_run(session, SLUG, "A", team=None, at=NOW)
    shown = worked(judge, 5)
    with database.transaction() as session:
        restore_run(session, SLUG, "A", team=None, at=NOW)
    shown += worked(judge, 15)
    assert len(set(shown)) == 20
    assert differences(database) == 0


def test_a_corpus_has_documents_that_no_run_has(database: Database) -> None:
    judge = learning_pool(database, {"candidates": "corpus"})
    with database.reading() as session:
        assert pool_selection.choices_left(session, SLUG, memory=Memory()) == {"1": 60}
    shown = worked(judge, 30)
    assert {f"s{number}" for number in range(18)} <= set(shown)
    with database.reading() as session:
        progress = selection_progress(session, SLUG)
    assert len([reason for reason in reasons(database) if "run" not in reason]) >= 6
    assert progress is not None
    assert all("by the classifier of round" in str(choice.reason) for choice in progress.last)
    assert differences(database) == 0


def test_a_choice_is_refused_its_replay_once_a_text_of_the_training_has_changed(database: Database) -> None:
    judge = learning_pool(database)
    shown = worked(judge, 6)
    with database.transaction() as session:
        changed = documents.read_documents(
            [InputFile("documents.tsv", f"{shown[0]}\t\tanother text\n".encode())], fields={}, unpacked_limit=LIMIT
        )
        documents.import_documents(session, SLUG, changed)
    with pytest.raises(ConflictError, match="Topic 1: the texts, the judgements, the topic itself or how"):
        differences(database)


def test_many_choices_of_a_classifier_take_long_to_repeat(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = learning_pool(database)
    worked(judge, 3)
    with database.transaction() as session:
        count = replay_choices(session, SLUG).choices
        monkeypatch.setattr(pool_replay, "MOST_LEARNED_AT_ONCE", count)
        assert not is_long_replay(session, SLUG)
        monkeypatch.setattr(pool_replay, "MOST_LEARNED_AT_ONCE", count - 1)
        assert is_long_replay(session, SLUG, version=1)
        build(session, PoolRequest("mtf", {"budget": 5}))
        assert not is_long_replay(session, SLUG)


def test_a_changed_text_is_learned_in_the_next_round(database: Database) -> None:
    judge = learning_pool(database)
    worker = Learning(database)
    assert worker.step()
    assert not worker.step()
    with database.transaction() as session:
        text = "".join(f"o{number}\t\tsolar power of panels and batteries\n" for number in range(47, 48))
        changed = documents.read_documents([InputFile("documents.tsv", text.encode())], fields={}, unpacked_limit=LIMIT)
        documents.import_documents(session, SLUG, changed)
    judge.work(most=1)
    assert worker.step()
    with database.reading() as session:
        order = LearnedOrder.unpack(session.scalars(select(LearningRound)).one().documents)
        [number] = session.scalars(select(Document.id).where(Document.docno == "o47"))
    assert number in order.documents[:13]


def test_other_rules_of_consensus_begin_another_round_of_the_same_size(database: Database) -> None:
    judge = learning_pool(database)
    trained(database)
    judge.work(most=1)
    assert trained(database)
    with database.transaction() as session:
        session.execute(update(Collection).values(relevant_from=2))
    assert trained(database)
    assert rounds(database) == [(3, 2, 1)]
    worked(judge, 4)
    assert differences(database) == 0


def test_judgements_that_were_deleted_are_learned_no_more(database: Database) -> None:
    judge = learning_pool(database)
    trained(database)
    judge.work(most=1)
    assert trained(database)
    with database.transaction() as session:
        session.execute(update(LearningRound).values(judgements=5))
    with database.reading() as session:
        chosen_now = pool_selection.choose_next(session, SLUG, "1", judge.id, memory=Memory())
    # What counts judgements that are not there is not used: reciprocal rank until the next round.
    assert chosen_now is None or "fused" in chosen_now.documents[0].reason
    assert trained(database)
    assert rounds(database) == [(3, 2, 1)]


def test_a_topic_whose_budget_is_used_up_is_not_trained(database: Database) -> None:
    judge = learning_pool(database, {"budget": 3})
    worked(judge, 4)
    before = rounds(database)
    judge.work()
    assert not trained(database)
    assert rounds(database) == before


def test_documents_without_text_and_topics_without_words_are_chosen_all_the_same(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session, "1\t?\n")
        run(session, "A", {"1": ["a", "b", "c"]})
        build(session, PoolRequest("cal", {"budget": 60, "start_depth": 0}))
        judge = AdaptiveJudge(database, member(session, "jo"), lambda _: 0)
    assert sorted(worked(judge, 3)) == ["a", "b", "c"]
    assert differences(database) == 0
    with database.reading() as session:
        assert session.scalars(select(LearningRound)).one().documents == b""


def test_two_workers_record_one_round(database: Database) -> None:
    learning_pool(database)
    with database.reading() as session:
        [waiting] = learning.waiting_topics(session, LearningMemory())
        first, second = (learning.train_topic(session, waiting, LearningMemory(), now=NOW) for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.row == second.row
    with database.transaction() as session:
        assert [learning.store_round(session, one) for one in (first, second)] == [True, False]


def test_a_round_of_an_earlier_version_is_not_stored(database: Database) -> None:
    learning_pool(database)
    with database.reading() as session:
        [waiting] = learning.waiting_topics(session, LearningMemory())
        found = learning.train_topic(session, waiting, LearningMemory(), now=NOW)
    assert found is not None
    with database.transaction() as session:
        build(session, PoolRequest("mtf", {"budget": 10}))
        assert not learning.store_round(session, found)
        assert learning.train_topic(session, waiting, LearningMemory(), now=NOW) is None
    assert not trained(database)


def test_what_the_classifier_chose_stands_beside_the_teams(database: Database) -> None:
    judge = learning_pool(database, {"candidates": "corpus"})
    worked(judge, 30)
    with database.reading() as session:
        teams = {one.team: one for one in overlap_report(session, SLUG).teams}
    learned = teams["classifier (cal)"]
    assert (learned.relevant_found, learned.found_alone) == (18, 6)
    assert (teams["A"].relevant_found, teams["A"].found_alone) == (12, 0)


def test_judgements_as_they_were_are_current_ones_with_the_last(database: Database) -> None:
    judge = learning_pool(database)
    worked(judge, 8)
    with database.transaction() as session:
        return_assignments(session, judge.id)
        topic = session.scalars(select(Topic.id)).one()
        stored = stored_judgements(session, [topic])
        then = judgements_then(stored, max(stored.id))
        assert list(map(bool, then.current)) == list(map(bool, stored.current))
        assert sorted(judgements_then(stored, sorted(stored.id)[3]).id) == sorted(stored.id)[:4]


def test_the_classifier_comes_to_a_target_set_as_if_nobody_had_judged_it(database: Database) -> None:
    with database.transaction() as session:
        solar_news(session)
        build(session, PoolRequest("stratified", {"strata": "1-60:0.4"}), seed=3)
        judge = AdaptiveJudge(database, member(session, "jo"), is_relevant)
        drawn = session.scalar(select(func.count()).select_from(PoolItem)) or 0
    sample = set(judge.work())
    assert len(sample) == drawn == 24
    found = {docno for docno in sample if is_relevant(docno)}
    assert found
    with database.transaction() as session:
        build(session, PoolRequest("cal", {"budget": 20, "start_depth": 0}))
    shown = worked(judge, 20)
    assert len(shown) == 20
    assert not set(shown) & sample
    with database.reading() as session:
        events = [event for event in session.scalars(select(SelectionEvent).order_by(SelectionEvent.step))]
        again = {
            session.get_one(Document, session.get_one(PoolItem, event.pool_item_id).document_id).docno
            for event in events
        } & sample
        progress = selection_progress(session, SLUG)
        notices = " ".join(str(one) for one in stopping_report(session, SLUG, StoppingRequest()).notices)
    # What it came to again costs nothing of the budget, and counts for the target set.
    assert progress is not None
    assert (progress.made, len(events)) == (20, 20 + len(again))
    assert found <= again
    assert "The review has not come to any document" not in notices
    assert differences(database) == 0


def test_a_sample_in_several_strata_or_a_whole_one_is_no_target_set(database: Database) -> None:
    with database.transaction() as session:
        solar_news(session)
        build(session, PoolRequest("stratified", {"strata": "1-30:1, 31-60:0.4"}), seed=3)
        build(session, PoolRequest("cal", {"budget": 20, "start_depth": 0}))
        pool = session.scalars(select(Pool).where(Pool.strategy == "cal")).one()
        topic = session.scalars(select(Topic.id)).one()
        assert target_set(session, pool, topic) == frozenset()


@pytest.mark.parametrize("candidates", ["pooled", "corpus"])
def test_choices_of_an_imported_archive_are_repeated_and_go_on(database: Database, candidates: str) -> None:
    judge = learning_pool(database, {"candidates": candidates})
    worked(judge, 8)
    stream = io.BytesIO()
    with database.reading() as session:
        write_archive(session, SLUG, stream, Archiving(NOW, "0.1.0"))
    with open_archive("news.zip", stream, limit=LIMIT) as bundle:
        import_archive(database, bundle, slug="again", at=NOW)
    with database.transaction() as session:
        assert replay_choices(session, "again").choices == replay_choices(session, SLUG).choices
        assert replay_choices(session, "again").differences == ()
        progress = selection_progress(session, "again")
        close_collection(session, SLUG)
    assert progress is not None
    assert progress.made == len(reasons(database)) // 2
    # The worker trains for it as for any other.
    assert trained(database)
    assert [number for number, _, judgements in rounds(database) if judgements == 8] == [1]


def test_a_worker_without_the_library_leaves_judges_with_reciprocal_rank(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = learning_pool(database)
    monkeypatch.setattr(learning, "can_learn", lambda: False)
    assert not trained(database)
    assert len(judge.work(most=3)) == 3


def test_several_judges_with_second_opinions_and_corrections_can_be_replayed(database: Database) -> None:
    judge = learning_pool(database)
    with database.transaction() as session:
        session.execute(update(Collection).values(judgements_wanted=2))
        kim = AdaptiveJudge(database, member(session, "kim"), lambda docno: 1 - is_relevant(docno))
    random, worker = Random(3), Learning(database)  # noqa: S311 - the same in each run
    shown: list[str] = []
    for _ in range(24):
        who = random.choice([judge, kim])
        task = who.next()
        assert task is not None
        shown.append(task.docno)
        who.judge(task, random.choice([0, 1, 2, None]))
        who.judge(task, who.grade_of(task.docno))
        if random.random() < 0.5:
            worker.step()
    assert len(shown) > len(set(shown))
    assert max(number for number, _, _ in rounds(database)) > 3
    assert differences(database) == 0


def test_judges_of_other_topics_choose_nothing_in_an_owned_one(database: Database) -> None:
    judge = learning_pool(database)
    with database.transaction() as session:
        kim = member(session, "kim")
        change_queue(session, SLUG, QueueChange(judging_mode=JudgingMode.OWNED))
        session.execute(update(Topic).values(owner_id=judge.id))
    assert trained(database)
    with database.reading() as session:
        assert pool_selection.choose_next(session, SLUG, "1", kim, memory=Memory()) is None
    assert sum(map(is_relevant, worked(judge, 12))) > 6
    assert differences(database) == 0
