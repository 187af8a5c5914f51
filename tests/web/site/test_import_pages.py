"""Files by page: topics, documents, runs and labels come in whole or not at all."""

import gzip
import io
import zipfile

import pytest
from build import labels, run_text
from sqlalchemy import func, select
from visiting import Visit, file, import_labels, words

from annotator.storage import Database, Document, Run, Topic
from annotator.workflows.documents.documents import missing_documents

GOOD = run_text("gamma", {"1": ["a", "f"], "2": ["b"]})


def count(database: Database, table: type[Topic] | type[Document] | type[Run]) -> int:
    with database.reading() as session:
        return session.scalars(select(func.count()).select_from(table)).one()


def test_topics_are_imported_and_listed(visit: Visit, news: str) -> None:
    ola = visit("ola")
    files = [file("more.tsv", "3\tthird topic\n"), file("again.tsv", "1\tfirst topic, mended\n")]
    assert ola.post(f"{news}/topics", files=files).status_code == 303
    page = words(ola.get(f"{news}/topics"))
    assert "Topics added: 1, reworded: 1, unchanged: 0." in page
    assert "1 first topic, mended" in page
    assert "3 third topic" in page


def test_a_participant_sees_topics_without_the_pool(visit: Visit, news: str) -> None:
    page = visit("pat").get(f"{news}/topics")
    assert "first topic" in words(page)
    assert "Pooled" not in words(page)
    assert "Import topics" not in words(page)


def test_documents_are_imported_with_fields_of_other_names(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    content = gzip.compress(b'{"id": "f", "text": "About f."}\n{"id": "g", "text": "About g."}\n')
    answer = ola.post(f"{news}/documents", files=file("corpus.jsonl.gz", content), fields="docno=id  body=text")
    assert answer.status_code == 303
    assert "Documents added: 2," in words(ola.get(f"{news}/documents"))
    assert count(database, Document) == 7
    wrong = ola.post(f"{news}/documents", files=file("c.jsonl", "{}"), fields="docno:id")
    assert wrong.status_code == 422
    assert "“docno:id” is not a field mapping" in words(wrong)


def test_documents_of_the_pool_without_text_are_listed(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    assert "Every document of the pool has its text." in words(ola.get(f"{news}/documents/missing"))
    with database.transaction() as session:
        labels(session, "nist", "2 0 bodiless 1\n1 0 bodiless 0\n", add_to_pool=True)
    assert "bodiless 1, 2" in words(ola.get(f"{news}/documents/missing"))
    download = ola.get(f"{news}/documents/missing.txt")
    assert (download.text, download.mimetype) == ("bodiless\n", "text/plain")
    with database.reading() as session:
        assert [one.docno for one in missing_documents(session, "news")] == ["bodiless"]


def test_files_that_share_a_tag_take_it_from_their_names(visit: Visit, news: str) -> None:
    files = [file("first.run.gz", gzip.compress(GOOD)), file("folder/second.txt", GOOD)]
    ola = visit("ola")
    assert ola.post(f"{news}/runs", files=files).status_code == 422
    files = [file("first.run.gz", gzip.compress(GOOD)), file("folder/second.txt", GOOD)]
    assert ola.post(f"{news}/runs", files=files, tag_from_file="y").status_code == 303
    page = words(ola.get(f"{news}/runs"))
    assert "first.run 1 2 3" in page
    assert "second 1 2 3" in page


BAD_RUNS = [
    ("columns.run", b"1 Q0 a 1 t\n", "columns.run:1"),
    ("score.run", b"1 Q0 a 1 9 t\n1 Q0 b 2 high t\n", "score.run:2"),
    ("topic.run", b"1 Q0 a 1 9 t\n9 Q0 a 1 9 t\n", "topic.run:2"),
    ("twice.run", b"1 Q0 a 1 9 t\n1 Q0 a 2 8 t\n", "twice.run:2"),
    ("tags.run", b"1 Q0 a 1 9 t\n1 Q0 b 2 8 u\n", "tags.run:2"),
    ("taken.run", b"1 Q0 a 1 9 alpha\n", "taken.run:1"),
    ("empty.run", b"\n", "empty.run"),
    ("binary.run", bytes(range(256)), "binary.run:1"),
    ("utf8.run", b"1 Q0 a 1 9 t\n1 Q0 \xff 2 8 t\n", "utf8.run:2"),
    ("cut.run.gz", gzip.compress(GOOD, mtime=0)[:-9], "cut.run.gz"),
]


@pytest.mark.parametrize(("name", "content", "place"), BAD_RUNS, ids=[name for name, *_ in BAD_RUNS])
def test_a_bad_run_is_refused_with_file_and_line_and_nothing_is_stored(
    visit: Visit, news: str, database: Database, name: str, content: bytes, place: str
) -> None:
    for address, is_to_store in ((f"{news}/runs/check", False), (f"{news}/runs", True)):
        answer = visit("ola").post(address, files=[file(name, content), file("gamma.run", GOOD)])
        assert answer.status_code == 422
        assert f"<code>{place}</code>" in answer.text
        assert ("Nothing was stored." in words(answer)) is is_to_store
        assert "Problems found: " in words(answer)
    assert count(database, Run) == 2


def test_a_run_that_swells_is_left_to_the_worker(visit: Visit, news: str, database: Database) -> None:
    bomb = gzip.compress(b"1 Q0 a 1 9 t\n" * 100_000)
    for address in (f"{news}/runs/check", f"{news}/runs"):
        answer = visit("ola").post(address, files=[file("bomb.run.gz", bomb)])
        assert (answer.status_code, "/jobs/" in answer.headers["Location"]) == (303, True)
    assert count(database, Run) == 2


def test_all_problems_of_all_files_are_listed_at_once_up_to_a_hundred_a_file(visit: Visit, news: str) -> None:
    many = "".join(f"1 Q0 d{line} 1 bad{line} t\n" for line in range(150))
    answer = visit("ola").post(f"{news}/runs", files=[file("many.run", many), file("one.run", "1 Q0 a 1 t\n")])
    assert "Nothing was stored. Problems found: 151." in words(answer)
    assert "many.run Further problems of this file: 50." in words(answer)
    assert answer.text.count("<code>many.run:") == 100
    assert answer.text.count("<code>one.run:") == 1


def test_what_a_file_says_is_shown_as_text_only(visit: Visit, news: str) -> None:
    answer = visit("ola").post(f"{news}/runs", files=file("<i>x.run", "<script>alert(1)</script> Q0 a 1 9 t\n"))
    assert answer.status_code == 422
    assert "&lt;i&gt;x.run" in answer.text
    assert "<script>alert" not in answer.text


def test_no_file_at_all_is_said_beside_the_field(visit: Visit, news: str) -> None:
    ola = visit("ola")
    for page in ("topics", "documents", "runs"):
        answer = ola.post(f"{news}/{page}")
        assert answer.status_code == 422
        assert "This field is required." in words(answer)


def test_labels_are_imported_as_one_judges_and_may_join_the_pool(visit: Visit, news: str) -> None:
    ola = visit("ola")
    text = "1 0 a 2\n1 0 new 1\n"
    refused = ola.post(f"{news}/judgements", file=file("nist.qrels", text), judge="nist")
    assert refused.status_code == 422
    assert "<code>nist.qrels:2</code> Document new is not in the pool of topic 1" in refused.text
    answer = import_labels(ola, news, "nist.qrels", text, judge="nist", add_to_pool="y")
    assert answer.status_code == 303
    page = words(ola.get(f"{news}/judgements"))
    assert "Labels added: 2, changed: 0, known already: 0, unjudged (-1): 0. Documents added to the pool: 1." in page
    assert ola.post(f"{news}/judgements", file=file("n.qrels", "1 0 a 7\n"), judge="nist").status_code == 422
    assert ola.post(f"{news}/judgements", file=file("n.qrels", text), judge="two words").status_code == 422
    stranger = ola.post(f"{news}/judgements", file=file("n.qrels", text), judge="ada")
    assert stranger.status_code == 409
    assert "“ada” is the account of a person who is no member of this collection" in words(stranger)


def test_the_pool_is_built_from_the_runs_that_are_ticked(visit: Visit, news: str) -> None:
    ola = visit("ola")
    ola.post(f"{news}/runs", files=file("gamma.run", GOOD))
    answer = ola.post(f"{news}/pool", depth="2", runs=["gamma"], seed="", confirmed="y")
    assert answer.status_code == 303
    page = words(ola.get(f"{news}/pool"))
    assert "Added to the pool: 2. Already in the pool: 1. Version 2 is now active." in page
    assert "2 depth-k union of runs depth 2 Runs: 1 gamma" in page


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"depth": "0"}, "The depth must be a whole number from 1 to 999999999, not “0”."),
        ({"depth": "9" * 30}, "The depth must be a whole number from 1 to 999999999"),
        ({"depth": "ten"}, "Write a whole number."),
        ({"depth": "5", "seed": "-1"}, "A seed is a whole number from 0 to 2^62, not -1."),
        ({"depth": "5", "runs": "none"}, "There is no run “none” in this collection."),
    ],
)
def test_a_pool_that_cannot_be_built_says_why(visit: Visit, news: str, fields: dict[str, str], sentence: str) -> None:
    answer = visit("ola").post(f"{news}/pool", **fields)
    assert answer.status_code == 422
    assert sentence in words(answer)


def test_a_format_is_chosen_or_detected_and_reported(visit: Visit, news: str) -> None:
    ola = visit("ola")
    ola.post(f"{news}/topics", files=[file("a.csv", "qid,query\n3,third\n"), file("b.csv", "qid,query\n4,fourth\n")])
    assert "a.csv, b.csv: read as table of topics." in words(ola.get(f"{news}/topics"))
    wrong = ola.post(f"{news}/topics", files=file("a.csv", "qid,query\n3,third\n"), input_format="jsonl")
    assert "<code>a.csv:1</code> The line is not valid JSON: look at column 1." in wrong.text
    ola.post(f"{news}/documents", files=file("d.jsonl", '{"_id": "z", "text": "Z."}\n'))
    assert "d.jsonl: read as JSON records." in words(ola.get(f"{news}/documents"))
    labels_file = file("l.csv", "query,docid,rating\nfirst topic,a,1\n")
    assert "l.csv: read as table of labels." in words(ola.post(f"{news}/judgements", file=labels_file, judge="nist"))
    import_labels(ola, news, "l.csv", "query,docid,rating\nfirst topic,a,1\n", judge="nist")
    assert "l.csv: read as table of labels." in words(ola.get(f"{news}/judgements"))


def test_a_run_in_another_format_is_reported_and_stored_under_the_name_of_its_file(visit: Visit, news: str) -> None:
    ola, run = visit("ola"), "qid,docno,score\n1,a,2.5\n2,b,1.5\n"
    checked = ola.post(f"{news}/runs/check", files=[file("pt.csv", run), file("ms.run", "1 a 1\n2 b 1\n")])
    assert "pt.csv read as table of a run" in words(checked)
    assert "ms.run read as MS MARCO run" in words(checked)
    assert 'value="pt"' in checked.text
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("ms2.run", "1 a 1\n2 b 1\n")
    refused = ola.post(f"{news}/runs", files=file("runs.zip", archive.getvalue()), input_format="trec")
    assert "The line has 3 columns" in words(refused)
    stored = ola.post(f"{news}/runs", files=file("pt.csv", run), input_format="csv")
    assert "pt.csv: read as table of a run." in words(ola.get(stored.headers["Location"]))
