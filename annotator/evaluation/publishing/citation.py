"""How a kit is cited: CITATION.cff (Citation File Format 1.2) and .zenodo.json, the metadata of a deposit at Zenodo."""

import html
import json
import re
from collections.abc import Mapping
from typing import Any

from annotator.evaluation.publishing.kit_facts import KitFacts
from annotator.evaluation.publishing.kit_files import json_bytes

SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
ADDRESS = re.compile(r"https?://\S+")
KEYWORDS = ("information retrieval", "test collection", "relevance judgements", "qrels")
Author = Mapping[str, str]


def authors_of(facts: KitFacts) -> tuple[str, ...]:
    """The authors as given, or the organisers of the task as a group."""
    return facts.publication.authors or (f"The organisers of {facts.title}",)


def citation_cff(facts: KitFacts) -> bytes:
    """CITATION.cff; a licence is named if it is an SPDX identifier or an address, as the format asks for."""
    publication = facts.publication
    values: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use this test collection, please cite it as below.",
        "type": "dataset",
        "title": facts.title,
        "abstract": facts.summary,
        "authors": [_author(name) for name in authors_of(facts)],
        "version": str(publication.version),
        "date-released": publication.made_at.date().isoformat(),
        "keywords": list(KEYWORDS),
    }
    if SPDX.fullmatch(publication.licence):
        values["license"] = publication.licence
    elif ADDRESS.fullmatch(publication.licence):
        values["license-url"] = publication.licence
    if publication.address:
        values["url"] = publication.address
    # Each value is JSON, which YAML contains: no character of a title can then be taken for syntax.
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items()).encode()


def _author(name: str) -> Author:
    family, comma, given = (part.strip() for part in name.partition(","))
    if comma and family and given:
        return {"family-names": family, "given-names": given}
    return {"name": name}


def zenodo_json(facts: KitFacts) -> bytes:
    """.zenodo.json; Zenodo shows the description as HTML."""
    publication = facts.publication
    values: dict[str, Any] = {
        "title": facts.name,
        "upload_type": "dataset",
        "description": f"<p>{html.escape(facts.summary)}</p>",
        "creators": [{"name": name} for name in authors_of(facts)],
        "version": str(publication.version),
        "publication_date": publication.made_at.date().isoformat(),
        "keywords": list(KEYWORDS),
    }
    if SPDX.fullmatch(publication.licence):
        values["license"] = publication.licence.lower()
    return json_bytes(values)
