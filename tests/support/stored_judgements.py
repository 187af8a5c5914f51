"""Judgements as a database gives them, to be put in columns."""

from dataclasses import dataclass, field


@dataclass
class Stored:
    """Judgements in the order in which a database gives them."""

    id: list[int] = field(default_factory=list)
    topic: list[int] = field(default_factory=list)
    item: list[int] = field(default_factory=list)
    document: list[int] = field(default_factory=list)
    docno: list[str] = field(default_factory=list)
    judge: list[int] = field(default_factory=list)
    assignment: list[int] = field(default_factory=list)
    grade: list[int | None] = field(default_factory=list)
    seconds: list[float | None] = field(default_factory=list)
    current: list[int] = field(default_factory=list)
    withdraws: list[int] = field(default_factory=list)
    own_time: list[int] = field(default_factory=list)
    replaces: list[int] = field(default_factory=list)
    carried_from: list[int] = field(default_factory=list)
    adjudications: frozenset[int] = frozenset()
    second_showings: frozenset[int] = frozenset()

    def add(self, id_: int, topic: int, document: int, judge: int, **values: object) -> None:
        self.id.append(id_)
        self.topic.append(topic)
        self.item.append(100 * topic + document)
        self.document.append(document)
        self.docno.append(f"d{document}")
        self.judge.append(judge)
        plain: dict[str, object] = {"assignment": id_, "grade": 0, "seconds": None, "current": 1, "withdraws": 0}
        plain |= {"own_time": 1, "replaces": 0, "carried_from": 0} | values
        for name, value in plain.items():
            getattr(self, name).append(value)
