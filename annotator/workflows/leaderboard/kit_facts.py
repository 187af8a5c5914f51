"""What the description of a published kit says about pool, judging, agreement and machine judges."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.evaluation.agreement.many_judges import Level
from annotator.evaluation.publishing.kit_facts import Agreement, KitFacts, KitTask, MachineUsed, PoolBuilt
from annotator.evaluation.publishing.kit_files import Publication
from annotator.storage import Collection, QrelsVersion, User
from annotator.storage.agreement.machines import machines_of
from annotator.storage.qrels.manifest_facts import machine_facts
from annotator.storage.runs.sent_runs import SentRun
from annotator.storage.tables.machine_judging import MachineJudge
from annotator.workflows.agreement.agreement import agreement_report

# Settings that are lists or tables; they are in the manifest.
SHOWN = (str, int, float)


def kit_facts(
    session: Session,
    collection: Collection,
    publication: Publication,
    version: QrelsVersion,
    *,
    manifest: Mapping[str, Any],
    topics: int,
    runs: Sequence[SentRun],
    documents: int,
    files: Sequence[str],
    tasks: Sequence[KitTask],
) -> KitFacts:
    """Everything that README, datasheet and metadata say; `manifest` is that of the version, for readers."""
    return KitFacts(
        publication=publication,
        title=collection.title,
        kept_at=version.made_at,
        manifest=manifest,
        topics=topics,
        runs=len(runs),
        teams=len({run.team for run in runs} - {None}),
        documents=documents,
        agreement=_agreement(session, collection.slug),
        machines=_machines(session, collection.id, version.manifest),
        pools=[_pool(pool) for pool in manifest["pool_versions"]],
        files=files,
        tasks=tasks,
    )


def _agreement(session: Session, slug: str) -> Agreement:
    report = agreement_report(session, slug, choose_pairs=lambda _in_common: [])
    return Agreement(
        report.all.items_shared, report.same.value, report.all.alpha[Level.ORDINAL].value, report.interval.interval
    )


def _pool(pool: Mapping[str, Any]) -> PoolBuilt:
    parameters = pool["parameters"]
    settings = ", ".join(f"{name} {value}" for name, value in parameters.items() if isinstance(value, SHOWN))
    return PoolBuilt(pool["version"], pool["strategy"], settings, pool["seed"], len(parameters.get("runs", ())))


def _machines(session: Session, collection_id: int, manifest: Mapping[str, Any]) -> list[MachineUsed]:
    """The machines with labels, counted or not, those by whose labels a sample was drawn, and those that run here."""
    run_here = {
        name: judge
        for judge, name in session.execute(
            select(MachineJudge, User.name)
            .join(User, User.id == MachineJudge.user_id)
            .where(MachineJudge.collection_id == collection_id)
            .order_by(MachineJudge.id)
        )
    }
    judged = {machine.name for machine in machines_of(session, collection_id)}
    drew = {pool["parameters"]["machine"] for pool in manifest["pool_versions"] if pool["parameters"].get("machine")}
    return [
        MachineUsed(
            str(fact["model"]),
            _text(fact["prompt_sha256"]),
            _text(fact["labelled_on"]),
            _settings(run_here.get(str(fact["name"])), drew=fact["name"] in drew),
        )
        for fact in machine_facts(session, {*judged, *drew, *run_here})
    ]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _settings(judge: MachineJudge | None, *, drew: bool) -> str:
    """How a machine was used, in words."""
    used = ["its labels guided the draw of a sample"] if drew else []
    if judge is None:
        return "; ".join([*used, "labels imported"])
    asked = f"{judge.samples} responses to each document" if judge.samples > 1 else "one response to each document"
    return "; ".join([*used, asked, f"temperature {judge.temperature:g}", f"texts cut at {judge.text_tokens} tokens"])
