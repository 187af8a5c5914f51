"""metadata.json: a kit in the format Croissant 1.0 of MLCommons, with the SHA-256 of each file and its tables."""

from collections.abc import Sequence
from typing import Any

from annotator.evaluation.publishing import kit_files
from annotator.evaluation.publishing.citation import ADDRESS, KEYWORDS, authors_of
from annotator.evaluation.publishing.kit_facts import KitFacts
from annotator.evaluation.publishing.kit_files import WrittenFile, json_bytes

TEXT, WHOLE, NUMBER = "sc:Text", "sc:Integer", "sc:Float"
NOT_STATED = "Not stated: ask the organisers."
# Of the specification, https://docs.mlcommons.org/croissant/docs/croissant-spec.html.
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
TOPIC_FIELDS = tuple((name, TEXT) for name in ("number", "title", "description", "narrative", "language"))
RUN_FIELDS = (("run", TEXT), ("team", TEXT), ("type", TEXT), ("file", TEXT), ("topics", WHOLE), ("retrieved", WHOLE))
Fields = Sequence[tuple[str, str]]


def run_fields(*, has_tasks: bool) -> Fields:
    """The columns of the table of runs, without descriptions."""
    return (*RUN_FIELDS, ("task", TEXT)) if has_tasks else RUN_FIELDS


def croissant_json(facts: KitFacts, files: Sequence[WrittenFile], measures: Sequence[str]) -> bytes:
    """The metadata of these files; `measures` head the columns of the scores by topic."""
    publication = facts.publication
    scores = (("run", TEXT), ("topic", TEXT), *((measure, NUMBER) for measure in measures))
    by_task = kit_files.score_files([task.key for task in facts.tasks]).values()
    tables = {
        kit_files.TOPICS: TOPIC_FIELDS,
        kit_files.RUNS: run_fields(has_tasks=bool(facts.tasks)),
        **dict.fromkeys([kit_files.SCORES_BY_TOPIC, *(path for _, path in by_task)], scores),
    }
    written = {file.path for file in files}
    values: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": publication.slug,
        "alternateName": facts.title,
        "description": facts.summary,
        "creator": [{"@type": "sc:Organization", "name": name} for name in authors_of(facts)],
        "datePublished": publication.made_at.date().isoformat(),
        "version": f"{publication.version}.0.0",
        "keywords": list(KEYWORDS),
        "license": publication.licence or NOT_STATED,
        "citeAs": f"{'; '.join(authors_of(facts))} ({publication.made_at.year}). {facts.name}.",
        "distribution": [_file_object(file) for file in files],
        "recordSet": [_record_set(path, fields) for path, fields in tables.items() if path in written],
    }
    if ADDRESS.fullmatch(publication.address):
        values["url"] = publication.address
    return json_bytes(values)


def _file_object(file: WrittenFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "description": file.about,
        "contentUrl": file.path,
        "contentSize": f"{file.size} B",
        "encodingFormat": file.media,
        "sha256": file.sha256,
    }


def _record_set(path: str, fields: Fields) -> dict[str, Any]:
    name = path.removesuffix(".csv").removesuffix(".jsonl").replace("/", "_")
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "dataType": kind,
                "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
            }
            for column, kind in fields
        ],
    }
