"""The review of uploaded run files: a row for each, with what it would become, before anything is stored."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotator.errors import FileRefusedError, Problem, Problems, Sentence
from annotator.evaluation.formats.input_formats import Holds
from annotator.evaluation.formats.registry import format_of
from annotator.evaluation.formats.row_formats import TREC
from annotator.evaluation.runs.foreign_runs import plain_name
from annotator.evaluation.runs.parsed_runs import ranking_digest
from annotator.evaluation.runs.run_intake import tag_of
from annotator.files import InputFile
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.runs.runs import RunDetails
from annotator.storage.runs.sent_runs import runs_with_lists
from annotator.workflows.runs.run_files import RunEntry, first_tag, open_files
from annotator.workflows.runs.run_upload import CheckedRun, Submission, check_each_run, merge_details


@dataclass(frozen=True)
class ReviewRow:
    """One run file: the tag in it or in its name, the tag from the metadata, its format, and what was found.

    `topics` and `retrieved` are 0 for a file with problems; `same_as` are tags and files with the same ranking. `task`
    is that of the run that it replaces, or the one that is named for it, None for a file with problems.
    """

    file: str
    own_tag: str
    tag: str
    details: RunDetails
    task: str | None
    read_as: Sentence
    topics: int
    retrieved: int
    corrects: bool
    warnings: Sequence[Sentence]
    problems: Sequence[Problem]
    same_as: Sequence[str]


@dataclass(frozen=True)
class Review:
    """The rows of an upload, and the problems of all its files, archives and metadata."""

    rows: Sequence[ReviewRow]
    problems: Problems

    @property
    def refusal(self) -> FileRefusedError | None:
        """The error with all problems; None when there are none."""
        try:
            self.problems.report_if_any()
        except FileRefusedError as refusal:
            return refusal
        return None

    @property
    def groups(self) -> Sequence[Sequence[Problem]]:
        """The problems in their order; those of several files that read alike are one group."""
        groups: dict[str, list[Problem]] = {}
        for problem in self.problems.by_file():
            groups.setdefault(str(problem.sentence), []).append(problem)
        return list(groups.values())


def review_upload(
    session: Session, slug: str, files: Sequence[InputFile], submission: Submission, *, unpacked_limit: int
) -> Review:
    """Check the files of an upload, and return a row for each; stores nothing."""
    checked = check_each_run(
        session,
        slug,
        files,
        sender=submission.sender,
        tag_from_file=submission.tag_from_file,
        unpacked_limit=unpacked_limit,
        shared=submission.details,
    )
    alike = dict(
        zip((run.file_name for run in checked.runs), runs_ranked_alike(session, slug, checked.runs), strict=True)
    )
    runs, problems = {run.file_name: run for run in checked.runs}, _by_file(checked.problems)
    opened = open_files(files, unpacked_limit=unpacked_limit)
    rows = []
    for file, entry in zip([opened.files[number] for number in range(len(opened.files))], opened.entries, strict=True):
        run = runs.get(file.name)
        own_tag = tag_of(file.name) if submission.tag_from_file else _own_tag(file, run, entry)
        rows.append(
            ReviewRow(
                file=file.name,
                own_tag=own_tag,
                tag=entry.tag or own_tag,
                read_as=Sentence(format_of(Holds.RUNS, file).title),
                details=merge_details(submission.sender, submission.details, entry.details),
                task=run.task if run else None,
                topics=len(run.parsed.topics) if run else 0,
                retrieved=run.parsed.retrieved if run else 0,
                corrects=run is not None and run.corrects,
                warnings=run.warnings if run else (),
                problems=problems.get(file.name, ()),
                same_as=alike.get(file.name, ()),
            )
        )
    return Review(rows, checked.problems)


def _by_file(found: Problems) -> dict[str, list[Problem]]:
    problems: dict[str, list[Problem]] = {}
    for problem in found.by_file():
        problems.setdefault(problem.file, []).append(problem)
    return problems


def _own_tag(file: InputFile, run: CheckedRun | None, entry: RunEntry) -> str:
    """The tag in a file; that of a format without tags is the file's name."""
    if run is not None and entry.tag is None:
        return run.parsed.tag
    return first_tag(file) if format_of(Holds.RUNS, file).name == TREC else plain_name(file.name)


def runs_ranked_alike(session: Session, slug: str, checked: Sequence[CheckedRun]) -> list[tuple[str, ...]]:
    """For each checked run, the tags of stored runs with the same ranking, and the files among the others.

    A participant learns of the own team's runs only; a run that the file replaces does not count.
    """
    collection_id = find_collection(session, slug).id
    topics = topic_ids(session, collection_id)
    found: list[tuple[str, ...]] = []
    earlier: dict[str, str] = {}
    for one in checked:
        lists = {topics[number]: documents for number, documents, _ in one.documents.packed_lists(one.parsed)}
        team = None if one.sender.organises else one.sender.team
        stored = runs_with_lists(session, collection_id, lists, team=team, other_than=one.corrected_id)
        digest = ranking_digest(one.parsed)
        file = earlier.setdefault(digest, one.file_name)
        found.append((*stored, *([file] if file != one.file_name else [])))
    return found
