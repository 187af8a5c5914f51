"""A collection with a machine's labels, from whose runs a sample is drawn: for tests of samples and estimates."""

from collections.abc import Iterable, Mapping

from build import LIMIT, NOW, SLUG, build, labels, news, run, topic_file
from sqlalchemy.orm import Session

from annotator.files import InputFile
from annotator.storage.agreement.machines import MachineFacts
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.judging import judgement_import
from annotator.workflows.pools.pool_building import PoolSummary

MACHINE = "llm"
ALPHA = [f"d{number:02}" for number in range(30)]
BETA = [f"d{number:02}" for number in (3, 1, 4, 0, 5, 9, 2, 6, 40, 41, *range(10, 28))]
LISTS: Mapping[str, Mapping[str, list[str]]] = {
    "alpha": {"1": ALPHA, "2": ALPHA[::-1]},
    "beta": {"1": BETA, "2": BETA},
}
DOCNOS = sorted({docno for lists in LISTS.values() for one in lists.values() for docno in one})


def grade_of_people(docno: str) -> int:
    """Every third document is highly relevant, every second relevant."""
    number = int(docno[1:])
    return 2 if number % 3 == 0 else number % 2


def grade_of_machine(docno: str) -> int:
    """The grade of people, but one in five documents is thought relevant."""
    return 1 if int(docno[1:]) % 5 == 0 else grade_of_people(docno)


def machine_labels_of(session: Session, docnos: Iterable[str], *, name: str = MACHINE, more: int = 0) -> None:
    """A machine's grades of these documents in both topics; `more` is added to each, up to the best grade."""
    text = "".join(
        f"{topic} 0 {docno} {min(grade_of_machine(docno) + more, 2)}\n" for topic in ("1", "2") for docno in docnos
    )
    checked = judgement_import.check_judgements(
        session, SLUG, InputFile(f"{name}{more}.txt", text.encode()), add_to_pool=True, unpacked_limit=LIMIT
    )
    facts = MachineFacts("model", "", None)
    judgement_import.store_judgements(session, SLUG, checked, judge=name, machine=facts, added_at=NOW)


def sampled_news(session: Session, *, labelled: Iterable[str] = DOCNOS) -> None:
    """Two topics, two runs of 28 to 30 documents, and a machine's labels of them or of some."""
    news(session)
    topic_file(session)
    for tag, lists in LISTS.items():
        run(session, tag, lists)
    machine_labels_of(session, labelled)


def draw(session: Session, budget: int, *, seed: int = 7, **said: str | int) -> PoolSummary:
    """Draw a sample: by default 2 documents are certain, and there are bands of ranks 3 to 10 and 11 to 30."""
    parameters = {"certainty_depth": 2, "bands": "10", "depth": 30, "machine": MACHINE, **said}
    return build(
        session,
        PoolRequest("sample", {name: value for name, value in {**parameters, "budget": budget}.items() if value != ""}),
        seed=seed,
    )


def judge(session: Session, pairs: Iterable[tuple[str, str]], *, name: str = "nist", file: str = "people.txt") -> None:
    """People's grades of these (topic, docno)."""
    labels(session, name, "".join(f"{topic} 0 {docno} {grade_of_people(docno)}\n" for topic, docno in pairs), name=file)
