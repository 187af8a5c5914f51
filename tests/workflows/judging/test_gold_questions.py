"""Gold questions: what makes one, what is refused, how judges answered, and that nothing of it reaches them."""

import gzip

import pytest
from build import LIMIT, NOW, SLUG, document_file, labels, member, news, pool, pooled_news, run, topic_file, user
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, FileRefusedError, InvalidValueError, NotFoundError
from annotator.files import InputFile
from annotator.storage import (
    Assignment,
    AssignmentState,
    Contribution,
    Database,
    Document,
    Pool,
    PoolItem,
    Topic,
    User,
    UserKind,
)
from annotator.storage.judging.judgements_wanted import settle_needs
from annotator.workflows.collections import collection
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.collections.queue_settings import QueueChange, change_queue
from annotator.workflows.judging import training
from annotator.workflows.judging.gold_questions import (
    JudgeAnswers,
    QuestionAnswers,
    StoredQuestions,
    check_questions,
    one_question,
    remove_questions,
    show_answers,
    store_questions,
)
from annotator.workflows.judging.judging import next_task
from annotator.workflows.pools import pools
from annotator.workflows.topics import topic_editing


def import_questions(session: Session, text: str) -> StoredQuestions:
    checked = check_questions(session, SLUG, InputFile("known.tsv", text.encode()), unpacked_limit=LIMIT)
    return store_questions(session, SLUG, checked, added_by_id=None, added_at=NOW)


def problems_of(session: Session, text: str) -> list[str]:
    with pytest.raises(FileRefusedError) as refusal:
        import_questions(session, text)
    return [str(problem) for problem in refusal.value.problems]


def make_identical(session: Session, *docnos: str) -> None:
    for document in session.scalars(select(Document).where(Document.docno.in_(docnos))).all():
        document.text_hash = "the same"
    session.flush()


def for_everyone(session: Session) -> list[tuple[str, str, int | None]]:
    """Topic, docno and known grade of every item that is for everyone."""
    rows = session.execute(
        select(Topic.number, Document.docno, PoolItem.known_grade)
        .select_from(PoolItem)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(PoolItem.for_everyone)
        .order_by(Topic.number, Document.docno)
    )
    return [(number, docno, grade) for number, docno, grade in rows]


def test_pooled_documents_become_test_questions(session: Session) -> None:
    pooled_news(session)
    assert import_questions(session, "# topic, document, grade\n1\ta\t2\n2\te\t0\n") == StoredQuestions(2, 0, 0, 0)
    assert for_everyone(session) == [("1", "a", 2), ("2", "e", 0)]
    assert len(pools.pool_versions(session, SLUG)) == 1
    assert import_questions(session, "1 a 2\n2 e 1\n1 b 0\n") == StoredQuestions(added=1, changed=1, known=1, pooled=0)
    assert for_everyone(session) == [("1", "a", 2), ("1", "b", 0), ("2", "e", 1)]


def test_a_document_outside_the_pool_joins_it_and_says_why(session: Session) -> None:
    pooled_news(session)
    ola = user(session, "ola")
    checked = check_questions(session, SLUG, InputFile("known.tsv", b"1\te\t2\n2\te\t0\n"), unpacked_limit=LIMIT)
    assert store_questions(session, SLUG, checked, added_by_id=ola, added_at=NOW) == StoredQuestions(2, 0, 0, 1)
    version = pools.pool_versions(session, SLUG)[-1]
    assert (version.version, version.strategy, version.built_by, version.added) == (2, "test-questions", "ola", 1)
    assert version.parameters["file"] == "known.tsv"
    reasons = session.scalars(
        select(Contribution.imported_from).join(Pool, Pool.id == Contribution.pool_id).where(Pool.version == 2)
    ).all()
    assert reasons == ["known.tsv"]
    assert ("1", "e") in pools.pooled_docnos(session, SLUG)


def test_a_file_may_be_packed(session: Session) -> None:
    pooled_news(session)
    packed = InputFile("known.tsv.gz", gzip.compress(b"1\ta\t2\n"))
    checked = check_questions(session, SLUG, packed, unpacked_limit=LIMIT)
    assert store_questions(session, SLUG, checked, added_by_id=None, added_at=NOW).added == 1


def test_every_problem_of_a_file_is_told_with_its_line_and_nothing_is_stored(session: Session) -> None:
    pooled_news(session)
    topic_editing.drop_topics(session, SLUG, ["2"], reason="Too broad.")
    text = "1\ta\t2\n9\ta\t1\n2\ta\t1\n\n1\tb\t7\n1\tc\tx\n1\tnowhere\t1\n1\ta\t0\n1\ta\n"
    assert problems_of(session, text) == [
        "known.tsv:2: There is no accepted topic “9” in this collection.",
        "known.tsv:3: There is no accepted topic “2” in this collection.",
        "known.tsv:5: The grade 7 is not in the scale of the collection, which has 0, 1, 2.",
        "known.tsv:6: The grade x is not a whole number of at most four digits.",
        "known.tsv:7: Document nowhere has no text in this collection: import it first.",
        "known.tsv:8: Document a of topic 1 is graded twice; it is on line 1 already.",
        "known.tsv:9: The line has 2 columns; gold questions have three: topic, document, grade.",
    ]
    assert for_everyone(session) == []


@pytest.mark.parametrize("text", ["", "# nothing\n\n"])
def test_an_empty_file_is_refused(session: Session, text: str) -> None:
    pooled_news(session)
    assert len(problems_of(session, text)) == 1


@pytest.mark.parametrize(
    ("topic", "docno", "grade", "sentence"),
    [
        ("9", "a", 1, "no accepted topic “9”"),
        ("1", "nowhere", 1, "Document nowhere has no text"),
        ("1", "a", 3, "The grade 3 is not in the scale of the collection, which has 0, 1, 2"),
    ],
)
def test_a_single_question_is_refused_in_one_sentence(
    session: Session, topic: str, docno: str, grade: int, sentence: str
) -> None:
    pooled_news(session)
    with pytest.raises(InvalidValueError, match=sentence):
        one_question(session, SLUG, topic, docno, grade)


def test_what_fitted_when_it_was_read_is_checked_again_when_it_is_stored(session: Session) -> None:
    pooled_news(session)
    checked = check_questions(session, SLUG, InputFile("known.tsv", b"1\ta\t2\n"), unpacked_limit=LIMIT)
    change_collection(session, SLUG, CollectionChange(scale=collection.read_scale("0=No,1=Yes")))
    with pytest.raises(FileRefusedError) as refusal:
        store_questions(session, SLUG, checked, added_by_id=None, added_at=NOW)
    assert "known.tsv:1: The grade 2 is not in the scale" in str(refusal.value.problems[0])


def test_a_closed_collection_takes_no_test_questions(session: Session) -> None:
    pooled_news(session)
    collection.close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="is closed"):
        import_questions(session, "1\ta\t2\n")


def test_a_document_that_repeats_anothers_text_is_refused_with_the_one_that_is_shown(session: Session) -> None:
    pooled_news(session)
    make_identical(session, "a", "b", "e")
    settle_needs(session, 1, [1, 2])
    sentence = "Document %s of topic 1 has the same text as a, which is shown instead: make that the gold question."
    with pytest.raises(InvalidValueError, match=sentence % "b"):
        one_question(session, SLUG, "1", "b", 1)
    # e is outside the pool of topic 1: that it repeats a shows once it has joined it.
    assert problems_of(session, "1\te\t1\n") == [f"known.tsv:1: {sentence % 'e'}"]


def test_a_document_whose_grade_the_training_tells_is_refused_and_so_is_one_with_its_text(session: Session) -> None:
    pooled_news(session)
    lesson = training.check_training(session, SLUG, InputFile("t.tsv", b"1\ta\t2\n"), unpacked_limit=LIMIT)
    training.store_training(session, SLUG, lesson)
    make_identical(session, "a", "b")
    sentence = (
        "Document %s of topic 1 cannot be a gold question: the training contains a and reveals the grade of this text."
    )
    # Of the other topic the same document may have any grade.
    assert problems_of(session, "2\ta\t1\n1\ta\t2\n1\tb\t0\n1\tc\t0\n") == [
        f"known.tsv:2: {sentence % 'a'}",
        f"known.tsv:3: {sentence % 'b'}",
    ]
    with pytest.raises(InvalidValueError, match=sentence % "b"):
        one_question(session, SLUG, "1", "b", 1)


def test_what_joins_the_pool_is_read_and_not_the_whole_pool(sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        # By its statements: SQLite's steps are others where `pooled_news` has put its rows.
        news(session)
        topic_file(session)
        document_file(session, list("abcdefg"))
        run(session, "alpha", {"1": ["a", "b", "c"], "2": ["a"]})
        run(session, "beta", {"1": ["d", "b", "a"], "2": ["e"]})
        pool(session)
        few = steps_of(session, "2\tf\t1\n")
        docnos = [f"d{number:03}" for number in range(400)]
        document_file(session, docnos)
        run(session, "gamma", {"1": docnos})
        pool(session, depth=400)
        # The whole pool would be six times as much.
        assert steps_of(session, "2\tg\t1\n") < 2 * few


def steps_of(session: Session, text: str) -> int:
    """How much work it is for SQLite to store gold questions, in hundreds of its instructions."""
    checked = check_questions(session, SLUG, InputFile("known.tsv", text.encode()), unpacked_limit=LIMIT)
    steps: list[None] = []
    driver = session.connection().connection.driver_connection
    assert driver is not None
    driver.set_progress_handler(lambda: steps.append(None), 100)
    store_questions(session, SLUG, checked, added_by_id=None, added_at=NOW)
    driver.set_progress_handler(None, 0)
    return len(steps)


def test_every_judge_of_the_topic_is_given_them_however_many_had_them(session: Session) -> None:
    pooled_news(session)
    import_questions(session, "1\ta\t2\n")
    jo, kim = member(session, "jo"), member(session, "kim")
    labels(session, "nist", "1 0 a 2\n1 0 b 0\n1 0 c 0\n1 0 d 0\n")
    for judge in (jo, kim):
        task = next_task(session, SLUG, "1", judge, now=NOW)
        assert task is not None
        assert task.docno == "a"


def test_one_that_is_removed_is_like_others_again(session: Session) -> None:
    pooled_news(session)
    import_questions(session, "1\ta\t2\n1\tb\t0\n")
    jo = member(session, "jo")
    labels(session, "nist", "1 0 a 2\n1 0 b 0\n1 0 c 0\n1 0 d 0\n")
    assert next_task(session, SLUG, "1", jo, now=NOW) is not None
    assert remove_questions(session, SLUG, [("1", "a")]) == 1
    assert for_everyone(session) == [("1", "b", 0)]
    live = select(Document.docno).join(PoolItem, PoolItem.document_id == Document.id).join(Assignment)
    assert session.scalars(live.where(Assignment.state == AssignmentState.LIVE)).all() == ["b"]
    taken = select(PoolItem.taken).join(Document).join(Topic, Topic.id == PoolItem.topic_id)
    assert session.scalars(taken.where(Document.docno == "a", Topic.number == "1")).one() == 1


def test_a_common_document_that_was_drawn_stays_for_everyone_when_it_is_a_test_question_no_more(
    session: Session,
) -> None:
    pooled_news(session)
    change_queue(session, SLUG, QueueChange(common_items=1))
    assert next_task(session, SLUG, "1", member(session, "jo"), now=NOW) is not None
    # What was drawn keeps its mark.
    change_queue(session, SLUG, QueueChange(common_items=0))
    [common] = [docno for number, docno, _ in for_everyone(session) if number == "1"]
    other = next(docno for docno in "abcd" if docno != common)
    import_questions(session, f"1\t{common}\t2\n1\t{other}\t0\n")
    assert remove_questions(session, SLUG, [("1", common), ("1", other)]) == 2
    assert for_everyone(session) == [("1", common, None)]


@pytest.mark.parametrize("pair", [("1", "c"), ("9", "a"), ("1", "nowhere"), ("2", "a")])
def test_what_is_no_test_question_cannot_be_removed(session: Session, pair: tuple[str, str]) -> None:
    pooled_news(session)
    import_questions(session, "1\ta\t2\n")
    with pytest.raises(NotFoundError, match=f"“{pair[1]}” is no gold question of topic “{pair[0]}”"):
        remove_questions(session, SLUG, [("1", "a"), pair])
    assert for_everyone(session) == [("1", "a", 2)]


def test_answers_are_counted_by_judge_and_by_question(session: Session) -> None:
    pooled_news(session)
    import_questions(session, "1\ta\t2\n1\tb\t0\n2\te\t1\n")
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n2 0 e 0\n1 0 c 1\n")
    labels(session, "kim", "1 0 a 1\n")
    labels(session, "kim", "1 0 a 2\n", name="again.txt")  # the latest word counts
    labels(session, "lee", "1 0 c 1\n")  # no gold question
    answers = show_answers(session, SLUG)
    assert answers.judges == (JudgeAnswers("jo", 3, 2, 0), JudgeAnswers("kim", 1, 1, 0))
    assert [judge.share for judge in answers.judges] == [pytest.approx(2 / 3), 1.0]
    assert answers.questions == (
        QuestionAnswers("1", "a", "Title of a", 2, ((0, 0), (1, 0), (2, 2)), 0),
        QuestionAnswers("1", "b", "Title of b", 0, ((0, 1), (1, 0), (2, 0)), 0),
        QuestionAnswers("2", "e", "Title of e", 1, ((0, 1), (1, 0), (2, 0)), 0),
    )
    assert [(one.answered, one.right) for one in answers.questions] == [(2, 2), (1, 1), (1, 0)]


def test_what_a_machine_said_answers_no_test_question(session: Session) -> None:
    pooled_news(session)
    import_questions(session, "1\ta\t2\n")
    labels(session, "jo", "1 0 a 2\n")
    labels(session, "bot", "1 0 a 0\n", name="bot.txt")
    session.execute(update(User).where(User.name == "bot").values(kind=UserKind.MACHINE))
    answers = show_answers(session, SLUG)
    assert answers.judges == (JudgeAnswers("jo", 1, 1, 0),)
    assert answers.questions[0].fell == ((0, 0), (1, 0), (2, 1))


def test_before_the_first_answer_there_is_no_share(session: Session) -> None:
    pooled_news(session)
    document_file(session, ["f"])
    import_questions(session, "1\tf\t2\n")
    answers = show_answers(session, SLUG)
    assert (answers.judges, answers.questions[0].answered) == ((), 0)
    assert JudgeAnswers("jo", 0, 0, 1).share is None
