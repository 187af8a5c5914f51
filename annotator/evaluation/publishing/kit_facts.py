"""What is known of a collection when it is published, and how README and datasheet say it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotator.evaluation.publishing import kit_files
from annotator.evaluation.publishing.kit_files import ABOUT, ABOUT_FOLDERS, FINGERPRINT_DIGITS, Publication

ANONYMOUS = "The names of teams and runs are replaced by pseudonyms, which are the same in each release of this kit."
NO_PROMPT = "not stated"


@dataclass(frozen=True)
class Agreement:
    """How far people agree: documents that two or more graded, share of equal grades, Krippendorff's ordinal alpha.

    Values are None where they are not defined.
    """

    shared: int
    same: float | None
    alpha: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class MachineUsed:
    """A machine judge: its model, the SHA-256 of its prompt, and further settings in words."""

    model: str
    prompt_sha256: str | None
    labelled_on: str | None
    settings: str


@dataclass(frozen=True)
class PoolBuilt:
    """A version of the pool; a strategy's settings in words, without names."""

    version: int
    strategy: str
    settings: str
    seed: int
    runs: int


@dataclass(frozen=True)
class KitTask:
    """A task of several, with the numbers of its accepted topics and the number of its runs."""

    key: str
    title: str
    description: str
    topics: tuple[str, ...]
    runs: int


@dataclass(frozen=True, eq=False)
class KitFacts:
    """The parts of README, datasheet and metadata.

    `manifest` is that of the kept qrels, for readers.
    """

    publication: Publication
    title: str
    kept_at: datetime
    manifest: Mapping[str, Any]
    topics: int
    runs: int
    teams: int
    documents: int  # with a text in the kit
    agreement: Agreement
    machines: Sequence[MachineUsed]
    pools: Sequence[PoolBuilt]
    files: Sequence[str]  # paths, without runs and the scores of tasks
    tasks: Sequence[KitTask] = ()  # empty for a collection that is a single task

    @property
    def name(self) -> str:
        """The title with the version of the qrels."""
        return f"{self.title}, qrels version {self.publication.version}"

    @property
    def summary(self) -> str:
        """One sentence about the collection."""
        counts = self.manifest["counts"]
        return (
            f"A test collection for information retrieval with {self.topics:,} topics, {counts['qrels_lines']:,} "
            f"relevance judgements and {self.runs:,} runs (teams: {self.teams:,})."
        )


def readme(facts: KitFacts) -> bytes:
    """README.md: what it is, its files, and how to read and to score it."""
    return _page(_readme(facts))


def _readme(facts: KitFacts) -> Iterator[str]:
    publication = facts.publication
    yield f"# {_line(facts.title)}"
    yield facts.summary
    if publication.veiled:
        yield ANONYMOUS
    has_runs = f"\n| `{kit_files.RUN_FOLDER}/` | the runs, a file each: topic, Q0, document, rank, score, tag |"
    listed = "\n".join(f"| `{path}` | {ABOUT[path]} |" for path in facts.files)
    has_scores = "".join(
        f"\n| `{folder}/` | {ABOUT_FOLDERS[folder]}, a file for each |"
        for folder in (kit_files.SCORE_FOLDER, kit_files.TOPIC_SCORE_FOLDER)
    )
    more = (has_runs if facts.runs else "") + (has_scores if facts.runs and facts.tasks else "")
    yield f"## Files\n\n| File | Holds |\n| --- | --- |\n{listed}{more}"
    yield from _tasks(facts)
    if not facts.documents:
        yield (
            "The texts of the documents are not part of this kit. Get them from where the corpus is published; "
            f"`{kit_files.DOCNOS}` lists the documents."
        )
    if facts.runs:
        yield from _scores(facts)
    yield "## ir_datasets"
    yield (
        f"`{kit_files.LOADER}` beside the other files makes the collection known to ir_datasets:\n\n```python\n"
        f"import ir_datasets\nimport {kit_files.LOADER.removesuffix('.py')}  # from this folder\n\n"
        f'dataset = ir_datasets.load("{publication.slug}")\n'
        "dataset.queries_iter(), dataset.qrels_iter()\n```"
    )
    if facts.runs:
        yield f"Each run is a data set as well, such as `{publication.slug}/runs/TAG`, with its scored documents."
    yield "## Citation and licence"
    yield f"How to cite: `{kit_files.CITATION}`. Licence: {_line(publication.licence) or 'not stated'}."
    yield f"Made on {_day(publication.made_at)} by annotator {publication.program}."


def _tasks(facts: KitFacts) -> Iterator[str]:
    if not facts.tasks:
        return
    yield "## Tasks"
    yield f"Each run was sent to one task, and is scored on its topics; `{kit_files.TASKS}` lists them."
    yield _list(
        *(
            f"`{task.key}`: {_line(task.title)}. Topics: {len(task.topics):,}; runs: {task.runs:,}."
            + (f" {_line(task.description)}" if task.description else "")
            for task in facts.tasks
        )
    )


def _scores(facts: KitFacts) -> Iterator[str]:
    yield "## Scores"
    files = f"`{kit_files.SCORES}` and `{kit_files.SCORES_BY_TOPIC}`"
    if facts.tasks:
        files = f"The files of `{kit_files.SCORE_FOLDER}/` and `{kit_files.TOPIC_SCORE_FOLDER}/`, one for each task,"
    yield (
        f"{files} were computed from `{kit_files.QRELS}`, version "
        f"{facts.publication.version} of the qrels, kept on {_day(facts.kept_at)} (SHA-256 begins with "
        f"{facts.manifest['sha256'][:FINGERPRINT_DIGITS]}). Grades from {facts.manifest['relevant_from']} on count as "
        f"relevant. Scores are those of trec_eval 10, averaged over the topics{' of the task' if facts.tasks else ''} "
        "that have a judgement."
    )
    yield (
        "To compute them again, and to score other runs:\n\n```sh\n"
        f"annotator evaluate {kit_files.QRELS} {kit_files.RUN_FOLDER}/*.run.gz\n"
        f"trec_eval -l {facts.manifest['relevant_from']} {kit_files.QRELS} run.txt\n```"
    )
    if facts.tasks:
        yield "These score all topics. For the scores of a task, keep only the lines of its topics in the qrels."


def datasheet(facts: KitFacts) -> bytes:
    """DATASHEET.md, with the questions of Gebru et al. (2021), "Datasheets for Datasets", that data can answer."""
    return _page(_datasheet(facts))


def _datasheet(facts: KitFacts) -> Iterator[str]:
    yield f"# Datasheet: {_line(facts.title)}"
    yield facts.summary
    yield from _composition(facts)
    yield from _collection(facts)
    yield from _judging(facts)
    yield "## Distribution"
    yield f"Licence: {_line(facts.publication.licence) or 'not stated'}."
    yield ANONYMOUS if facts.publication.veiled else "Teams and runs are named as they took part."
    yield "No judge is named. " + (
        "The texts of the documents that have one are part of the kit."
        if facts.documents
        else "The texts of the documents are not part of the kit."
    )


def _composition(facts: KitFacts) -> Iterator[str]:
    counts = facts.manifest["counts"]
    yield "## Composition"
    yield _list(
        f"Topics: {facts.topics:,}; with a judgement: {counts['topics']:,}. "
        f"Dropped topics: {len(facts.manifest['dropped_topics']):,}.",
        f"Judged documents: {counts['qrels_lines']:,}. Pooled documents without a judgement: {counts['unjudged']:,}; "
        f"that could not be judged: {counts['could_not_be_judged']:,}.",
        f"Runs: {facts.runs:,}; teams: {facts.teams:,}.",
    )
    yield from _tasks_in_short(facts)
    rows = "\n".join(
        f"| {grade['value']} | {_cell(grade['name'])} | {_cell(grade['description'])} "
        f"| {counts['lines_by_grade'].get(str(grade['value']), 0):,} |"
        for grade in facts.manifest["scale"]
    )
    yield f"| Grade | Name | Meaning | Documents |\n| ---: | --- | --- | ---: |\n{rows}"
    yield f"Grades from {facts.manifest['relevant_from']} on count as relevant in binary measures."


def _tasks_in_short(facts: KitFacts) -> Iterator[str]:
    if facts.tasks:
        rows = "\n".join(
            f"| {_cell(task.key)} | {_cell(task.title)} | {len(task.topics):,} | {task.runs:,} |"
            for task in facts.tasks
        )
        yield f"| Task | Title | Topics | Runs |\n| --- | --- | ---: | ---: |\n{rows}"


def _collection(facts: KitFacts) -> Iterator[str]:
    yield "## Pool"
    if not facts.pools:
        yield "The judged documents were imported, without a pool of runs."
    else:
        rows = "\n".join(
            f"| {pool.version} | {_cell(pool.strategy)} | {_cell(pool.settings)} | {pool.runs:,} | {pool.seed} |"
            for pool in facts.pools
        )
        heading = "| Version | Strategy | Settings | Runs | Seed |\n| ---: | --- | --- | ---: | ---: |"
        yield f"The documents to judge were chosen from runs, in these versions:\n\n{heading}\n{rows}"
    if kit_files.PRELS in facts.files:
        yield f"A part was drawn at random: `{kit_files.PRELS_MANIFEST}` has the strata and their probabilities."


def _judging(facts: KitFacts) -> Iterator[str]:
    counts, agreement = facts.manifest["counts"], facts.agreement
    yield "## Judgements"
    policy = f"Several judgements of a document were settled so: {facts.manifest['consensus']}"
    yield _list(
        f"Judges: {counts['judges']:,}, with {counts['judgements']:,} judgements.",
        policy,
        f"Documents in dispute: {counts['in_dispute']:,}; decided by an adjudicator: "
        f"{counts['decided_by_adjudicators']:,}.",
    )
    if agreement.shared:
        yield (
            f"Agreement of people: {agreement.shared:,} documents were graded by two or more. Two judges gave the same "
            f"grade to {_share(agreement.same)} of them; Krippendorff's ordinal alpha is {_figure(agreement.alpha)}"
            f"{_interval(agreement.interval)}."
        )
    else:
        yield "Agreement of people: no document was graded by two people independently, so none can be given."
    yield from _machines(facts)


def _machines(facts: KitFacts) -> Iterator[str]:
    yield "### Machine judges"
    if not facts.machines:
        yield "No machine judged."
        return
    yield (
        "Labels of machines count in these qrels beside those of people."
        if facts.manifest["counts_machines"]
        else "Labels of machines do not count in these qrels."
    )
    rows = "\n".join(
        f"| {_cell(one.model) or NO_PROMPT} | {one.prompt_sha256 or NO_PROMPT} | {one.labelled_on or NO_PROMPT} "
        f"| {_cell(one.settings)} |"
        for one in facts.machines
    )
    yield f"| Model | SHA-256 of the prompt | Date | Settings |\n| --- | --- | --- | --- |\n{rows}"


def _page(paragraphs: Iterator[str]) -> bytes:
    return ("\n\n".join(paragraphs) + "\n").encode()


def _list(*sentences: str) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences)


def _line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")


def _day(moment: datetime) -> str:
    return moment.date().isoformat()


def _share(value: float | None) -> str:
    return "an undefined share" if value is None else f"{value:.1%}"


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def _interval(bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f" (95 % interval by topics {bounds[0]:.3f} to {bounds[1]:.3f})"
