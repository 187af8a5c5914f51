"""`annotator --site URL collections publish`: the site's worker writes the kit, and compares one that is sent."""

from pathlib import Path

import pytest
from build import NOW, SLUG, labels
from cli.remote_site import Remote
from worker.at_work import work

from annotator.workflows.qrels.qrels import export_qrels
from annotator.workflows.qrels.qrels_versions import keep_qrels
from annotator.workflows.runs.runs import withdraw_run

PUBLISH = ("collections", "publish", SLUG)


@pytest.fixture
def judged(site: Remote, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Remote:
    """A kept version of the qrels; while the command waits, the worker works."""
    with site.database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n1 0 d 0\n2 0 a 1\n")
        made = export_qrels(session, SLUG, made_at=NOW, to_keep=True)
        keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)
    monkeypatch.setattr("annotator.client.site.pause", lambda _seconds: work(site.database))
    monkeypatch.chdir(tmp_path)
    return site


def test_a_kit_is_written_as_a_folder_and_compared_by_the_site(judged: Remote) -> None:
    judged.done("ola", *PUBLISH, "-o", "kit", "-m", "AP", "--licence", "CC0-1.0")
    assert Path("kit/qrels.txt").read_text(encoding="utf-8") == "1 0 a 2\n1 0 d 0\n2 0 a 1\n"
    count = len([path for path in Path("kit").rglob("*") if path.is_file()])
    assert judged("ola", *PUBLISH, "--check", "-o", "kit").stderr.endswith(
        f"kit is what the database gives: {count} files.\n"
    )
    with judged.database.transaction() as session:
        withdraw_run(session, SLUG, "beta", at=NOW)
    refused = judged.refused("ola", *PUBLISH, "--check", "-o", "kit")
    assert "runs/beta.run.gz: The kit has no such file: it was added." in refused


def test_a_veiled_kit_is_a_zip_file_beside_its_mapping(judged: Remote) -> None:
    judged.done("ola", *PUBLISH, "-o", "kit.zip", "--veil", "--allow", "alpha", "--mapping", "names.csv")
    assert Path("kit.zip").read_bytes().startswith(b"PK")
    assert "alpha" in Path("names.csv").read_text(encoding="utf-8")
    assert judged("ola", *PUBLISH, "--check", "-o", "kit.zip").exit_code == 0


def test_nothing_is_written_where_it_would_be_lost_or_published(judged: Remote) -> None:
    Path("full").mkdir()
    Path("full/mine").write_text("mine", encoding="utf-8")
    assert "is not empty" in judged.refused("ola", *PUBLISH, "-o", "full")[-1]
    assert judged("ola", *PUBLISH, "-o", "kit", "--mapping", "names.csv").exit_code == 2
    assert judged.refused("pat", *PUBLISH, "-o", "kit")
    assert judged.refused("ola", *PUBLISH, "--check", "-o", "none")
    assert sorted(path.name for path in Path().iterdir()) == ["full"]
