"""The review of an upload: a row for each run file, whatever it came in, and nothing stored."""

import gzip
import io
import zipfile

import pytest
from build import LIMIT, SLUG, pooled_news, run, run_text
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import FileRefusedError
from annotator.evaluation.runs.run_tags import Sender
from annotator.files import InputFile
from annotator.storage import Run
from annotator.storage.runs.runs import RunDetails
from annotator.workflows.runs.run_files import first_tag, only_runs
from annotator.workflows.runs.run_upload import Submission
from annotator.workflows.runs.upload_review import Review, review_upload

ORGANISER = Sender(None, organises=True)


def reviewed(session: Session, *files: InputFile, sender: Sender = ORGANISER, tag_from_file: bool = False) -> Review:
    submission = Submission(sender, RunDetails(description="ours"), tag_from_file=tag_from_file)
    return review_upload(session, SLUG, files, submission, unpacked_limit=LIMIT)


def run_file(tag: str, docnos: str, name: str | None = None) -> InputFile:
    return InputFile(name or f"{tag}.run", run_text(tag, {"1": list(docnos)}))


def zipped(*files: InputFile) -> InputFile:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(file.name, file.content)
    return InputFile("runs.zip", content.getvalue())


def test_each_file_has_a_row_and_nothing_is_stored(session: Session) -> None:
    pooled_news(session)
    before = session.scalar(select(func.count(Run.id)))
    review = reviewed(session, run_file("gamma", "xyz"), run_file("delta", "zyx"))
    assert [(row.file, row.tag, row.topics, row.retrieved) for row in review.rows] == [
        ("gamma.run", "gamma", 1, 3),
        ("delta.run", "delta", 1, 3),
    ]
    assert [row.details.description for row in review.rows] == ["ours", "ours"]
    assert review.refusal is None
    assert session.scalar(select(func.count(Run.id))) == before


def test_metadata_in_an_archive_names_team_type_and_tag_of_each_run(session: Session) -> None:
    pooled_news(session)
    table = InputFile("about.csv", b"file,tag,team,type,priority\ngamma.run,G1,green,manual,2\n")
    [row] = reviewed(session, zipped(run_file("gamma", "xyz"), table)).rows
    assert (row.own_tag, row.tag, row.details.team, row.details.run_type, row.details.priority) == (
        *("gamma", "G1", "green", "manual", 2),
    )


def test_equal_rankings_are_named_among_the_files_and_the_stored_runs(session: Session) -> None:
    pooled_news(session)
    run(session, "stored", {"1": ["x", "y"]}, team="red")
    files = (run_file("gamma", "xy"), run_file("delta", "xy"))
    assert [row.same_as for row in reviewed(session, *files).rows] == [("stored",), ("stored", "gamma.run")]
    # A participant learns of the own team's runs only.
    team = Sender("blue", organises=False)
    assert [row.same_as for row in reviewed(session, *files, sender=team).rows] == [(), ("gamma.run",)]


def test_problems_stand_in_the_rows_and_alike_ones_are_grouped(session: Session) -> None:
    pooled_news(session)
    bad = [InputFile(f"{tag}.run", b"1 Q0 a 1 many %s\n" % tag.encode()) for tag in ("one", "two")]
    review = reviewed(session, *bad, run_file("gamma", "xyz"))
    assert [len(row.problems) for row in review.rows] == [1, 1, 0]
    assert [len(group) for group in review.groups] == [2]
    assert review.refusal is not None
    assert review.rows[0].retrieved == 0


def test_files_without_a_run_are_refused(session: Session) -> None:
    pooled_news(session)
    review = reviewed(session, InputFile("about.csv", b"file,team\ngamma.run,green\n"))
    assert review.rows == []
    assert "There is no run among these files." in [str(one.sentence) for one in review.problems.by_file()]


def test_the_tag_is_read_from_the_first_line_or_the_name(session: Session) -> None:
    pooled_news(session)
    packed = InputFile("packed.run.gz", gzip.compress(run_text("inside", {"1": ["x"]})))
    assert first_tag(packed) == "inside"
    assert first_tag(InputFile("x", packed.content[:20])) == ""
    assert first_tag(InputFile("x", b"\xff\xfe\n")) == ""
    [row] = reviewed(session, run_file("inside", "x", "outside.txt"), tag_from_file=True).rows
    assert row.tag == "outside"


def test_where_only_runs_are_taken_archives_and_metadata_are_refused() -> None:
    good = run_file("gamma", "xyz")
    assert list(only_runs([good])) == [good]
    for other in (zipped(good), InputFile("about.csv", b"file,team\ngamma.run,green\n")):
        with pytest.raises(FileRefusedError):
            only_runs([good, other])
