"""Descriptions of the properties and parameters in the OpenAPI document, by name.

A description in the field's own `metadata` comes first, then those by object and operation (`OF_OBJECTS`,
`OF_OPERATIONS`), then the names that mean the same everywhere. Tests list names without a description, and
descriptions that the document does not use.

For a new property or parameter, give its field `metadata={"description": ...}` or add its name here. When the name is
here already with another meaning, add it under its object or operation. Then add it to the examples of the operation
in the `examples.json` of its feature; a new operation needs an example of its body (unless that is a form) and of each
response.
"""

from collections.abc import Mapping

PROPERTIES: Mapping[str, str] = {
    # People, collections, guidelines
    "administrator": "Whether the token's owner administers the site.",
    "scopes": "The scopes of the token: read, runs, judge, organise.",
    "slug": "The short name of the collection, used in addresses.",
    "closed": "Whether the collection is closed: nothing can be added or judged.",
    "scale": "The grades of the collection, in ascending order.",
    "relevant_from": "The lowest grade that counts as relevant.",
    "submissions_until": "The deadline for runs, in UTC; null when there is none.",
    "collection": "The short name of the collection.",
    # Topics and documents
    "title": "The title.",
    "description": "The description.",
    "narrative": "The narrative: what makes a document relevant, and what does not.",
    "language": "The code of the language, such as en or ko; null when it is unknown.",
    "docno": "The identifier of the document.",
    "body": "The text of the document.",
    "url": "The web address of the document; null when it has none.",
    "dropped": "Whether the organisers dropped the topic.",
    # Runs and their costs
    "tag": "The tag of the run, which names it in the collection.",
    "team": "The team that sent the run; null for runs of the organisers.",
    "type": "How the run was made: automatic or manual.",
    "retrieved": "The number of retrieved documents, over all topics.",
    "file_name": "The name of the file as it was sent.",
    "checksum": "SHA-256 of the bytes as they were sent.",
    "uploaded_by": "The account that sent the file; null when it was sent by command.",
    "uploaded_at": "When the file arrived, in UTC.",
    "withdrawn_at": "When the run was withdrawn, in UTC; null when it was not.",
    "bytes": "The size of the file in bytes, as it was sent.",
    "warning_sentences": "The warnings, a sentence each.",
    "key": "The key of the fact, by which costs name it.",
    "fact": "The key of the fact, as the list of cost facts has it.",
    "value": "The value with its unit, as a person writes it; for PATCH, empty to remove the fact.",
    "words": "The value of a fact of words; empty for numbers.",
    "costs": "Facts of the run. PUT replaces all earlier ones with them, PATCH those of the same fact and detail.",
    # Pool
    "items": "The number of documents in the pool of the topic.",
    "version": "The number of the version of the pool.",
    "strategy": "The name of the pooling strategy.",
    "seed": "The seed of what is drawn at random.",
    "showing": "The order in which judges see the documents that are added: random, docno or selection.",
    "built_by": "The account that built the version; null when it was built by command.",
    "built_at": "When the version was built, in UTC.",
    "added": "The number of documents that were new to the pool.",
    "already_pooled": "The number of chosen documents that were in the pool already.",
    "is_new": "Whether a new version of the pool was made.",
    "versions": "The versions of the pool, oldest first.",
    "adaptive": "Whether the strategy chooses later documents by the judgements of earlier ones.",
    "amounts": "The amounts that are planned, such as depths, in ascending order.",
    "asked": "The index of the requested amount in `amounts`, from 0.",
    "to_come": "By amount: the number of documents that an adaptive strategy will choose later.",
    "made": "The number of documents that an adaptive strategy has chosen already.",
    "missing": "The number of judgements still required in the pool.",
    "effort": (
        "The basis of the hours: seconds per judgement, whether they are measured, judgements per document; and the "
        "pay per hour with its currency, null when not stated: hours times pay is the price."
    ),
    "total": "The pool of all topics, by amount: all documents, and those that would be added.",
    "teams": "By team: the documents that no other team contributes to the pool, by amount.",
    # Judging
    "judged": "The number of documents of the topic that have a judgement.",
    "waiting": "The number of documents of the topic that wait for the caller.",
    "put_off": "The number of documents of the topic that the caller deferred.",
    "owned": "Whether the caller owns the topic, where topics have owners.",
    "documents": "The documents to judge, at most eight.",
    "assignment": "The number of the assignment of this document to this judge.",
    "judgements": "The judgements, at most 100.",
    "grade": "The grade, a value of the collection's scale; null when the document cannot be judged.",
    "cannot_judge": "Why the document cannot be judged; null when it has a grade.",
    "note": "A note of the judge on this judgement.",
    "evidence": "Passages of the document that support the grade.",
    "start": "The index of the first character of the passage.",
    "end": "The index after the last character of the passage.",
    "text": "The text of the passage.",
    "acknowledged": "The ids of the judgements that are stored, by this call or an earlier one.",
    "refused": "The judgements that were not stored.",
    # Agreement, qrels, scores
    "by": "The table that was requested.",
    "made_at": "When the grades were settled, in UTC.",
    "made_by": "The account that kept the version; null when it was kept by command.",
    "consensus": "The consensus policy, in words.",
    "sha256": "SHA-256 of the file.",
    "lines": "The number of lines of the file.",
    "policy": "The consensus policy by which the grades are settled.",
    "measures": "The measures, in the order of the request.",
    "grades": "The number of grades that runs are scored by.",
    "fingerprint": "The first digits of the SHA-256 of the grades as a qrels file.",
    # Click logs
    "files": "The names of the files of the log.",
    "added_by": "The account that added the log; null when it was added by command.",
    "added_at": "When the log was added, in UTC.",
    # Deletions, audit log, jobs, refusals
    "kind": "What is deleted: a topic, a version of the pool, an import of labels, texts of documents, the collection.",
    "counts": "The number of deleted topics, documents, judgements and so on, by name.",
    "deleted_at": "When it was deleted, in UTC.",
    "at": "When it happened, in UTC.",
    "action": "What was done, such as “pool.build”.",
    "details": "Further facts of the action, by name.",
    "deeds": "The entries of the log, newest first.",
    "older": "The value of `before` for the next page; null on the last page.",
    "steps_done": "The number of steps that are done.",
    "asked_at": "When the job was requested, in UTC.",
    "finished_at": "When the job ended, in UTC; null before that.",
    "problem": "Why the operation was refused, or failed; null otherwise.",
    "file": "The name of the file.",
    "detail": "The problem, in a sentence.",
    "status": "The HTTP status.",
}

OF_OBJECTS: Mapping[str, Mapping[str, str]] = {
    "TokenView": {"name": "The name of the token's owner."},
    "GradeView": {
        "value": "The value of the grade, as qrels have it.",
        "name": "The name of the grade.",
        "description": "What the grade means.",
    },
    "CollectionDetails": {
        "counts": "The number of topics, documents, runs and so on; null unless the caller organises."
    },
    "GuidelinesView": {"number": "The number of the version; 0 before the first one."},
    "AcceptanceBody": {"number": "The number of the version that the judge has read."},
    "TopicView": {"number": "The number of the topic."},
    "TopicsImported": {
        "added": "The number of topics that are new.",
        "changed": "The number of topics that have another text now.",
        "unchanged": "The number of existing topics that did not change.",
    },
    "DocumentsImported": {
        "added": "The number of documents that are new.",
        "changed": "The number of documents that have another text now.",
        "unchanged": "The number of existing documents that did not change.",
    },
    "MissingDocument": {"topics": "The numbers of the topics whose pools have the document."},
    "SentRun": {
        "priority": "The team's order of preference for pooling: 1 comes first.",
        "description": "The description of the run by its sender.",
        "topics": "The number of topics with retrieved documents.",
        "round": "The number of the round to which the run belongs; null where there are no rounds.",
    },
    "RunReceipt": {
        "priority": "The team's order of preference for pooling: 1 comes first.",
        "description": "The description of the run by its sender.",
        "topics": "The number of topics with retrieved documents.",
        "round": "The number of the round to which the run belongs; null where there are no rounds.",
    },
    "CheckedFile": {
        "topics": "The number of topics with retrieved documents.",
        "warnings": "The warnings, a sentence each.",
    },
    "Stated": {"number": "The value of a fact of numbers, in the unit of the fact; null for words."},
    "Stating": {"detail": "The number of documents, or the type of query; empty for facts that are for neither."},
    "Fact": {"name": "The name of the fact on pages."},
    "ColumnWanted": {
        "key": "The key of the fact that is added.",
        "kind": "Whether its values are numbers or words.",
        "unit": "The unit of its numbers; empty for words.",
        "better": "Whether lower or higher values are better.",
    },
    "CostColumn": {"unit": "The unit of the numbers; empty for words."},
    "CostsOfRun": {"run": "The tag of the run.", "team": "The team of the run; null when it has none."},
    "CostReport": {
        "measure": "The measure by which runs are scored; null when there are no scores.",
        "qrels": "The qrels by which runs are scored; null when there are no scores.",
        "policy": "The consensus policy by which the grades are settled; null when there is none.",
        "grades": "The number of grades that runs are scored by; null when there are no scores.",
        "topics": "The number of topics that runs are scored on; null when there are no scores.",
        "fingerprint": "The first digits of the SHA-256 of the grades; null when there are no scores.",
        "unit": "The unit of the cost; empty for words.",
        "has_front": "Whether there is a Pareto front.",
        "columns": "The costs that some run states.",
        "rows": "An object for each run, best first.",
    },
    "ClickLog": {"name": "The name of the log."},
    "ClickFindings": {
        "name": "The name of the log.",
        "comparison": "The results of an A/B test; null for an interleaving.",
        "interleaving": "The results of an interleaving; null for an A/B test.",
    },
    "GradesUsed": {
        "topics": "The number of topics that runs are scored on.",
        "round": "The round whose runs are scored; null for all.",
    },
    "Together": {
        "measure": "The measure of the judgements.",
        "qrels": "The grades that runs are scored by.",
        "notices": "Limitations of the comparison, a sentence each.",
        "variants": "The variants of the logs with their runs.",
        "pairs": "The pairs of runs, by clicks and by judgements.",
    },
    "PoolingWanted": {"log": "The log whose queries are used; null for the newest that has any."},
    "TopicPool": {"number": "The number of the topic."},
    "TopicGrowth": {"number": "The number of the topic."},
    "PoolVersionView": {"parameters": "The parameters of the strategy, by name."},
    "PoolView": {"topics": "The accepted topics that have a pool."},
    "PoolBuilt": {
        "version": "The number of the current version.",
        "topics": "What was added, by topic.",
    },
    "PlanWanted": {
        "priority": "Only runs with a team priority of at most this; null for all.",
        "round": "Only runs of this round; null for the newest one.",
        "seed": "The seed of what is drawn at random; null for the collection's own.",
    },
    "BuildingWanted": {
        "priority": "Only runs with a team priority of at most this; null for all.",
        "round": "Only runs of this round; null for the newest one.",
        "seed": "The seed of what is drawn at random; null for the collection's own.",
    },
    "Plan": {
        "hours": "The available hours of judging, as requested; null if not given.",
        "topics": "The pools of the topics, by amount: all documents, and those that would be added.",
        "runs": "By run: the documents that no other run contributes to the pool, by amount.",
    },
    "DrawBody": {"topic": "The number of the topic."},
    "TopicWork": {
        "number": "The number of the topic.",
        "judged": "The number of documents of the topic that the caller has judged.",
    },
    "TopicWords": {"number": "The number of the topic."},
    "Drawn": {
        "topic": "The topic of the documents; null when no document waits for the caller.",
        "judged": "The number of documents of the topic that the caller has judged.",
    },
    "RefusedJudgement": {"id": "The sender's id of the judgement."},
    "Refused": {"id": "The sender's id of the judgement."},
    "AgreementTable": {"rows": "The rows of the table, an object each; `by` decides which properties they have."},
    "KeepBody": {"policy": "The consensus policy to settle by; null for the collection's own."},
    "Manifest": {"counts": "The number of lines, topics, judges, judgements and so on, by name."},
    "VersionView": {"number": "The number of the version, from 1."},
    "Board": {
        "topics": "The numbers of the topics that runs are scored on.",
        "policy": "The consensus policy by which the grades are settled; null for the grades of one judge.",
        "rows": "An object for each run, best first: tag, place, team, values and intervals by measure, and more.",
    },
    "DeletionView": {"number": "The number of the deletion, by which it is restored."},
    "DeletedView": {"subject": "What was deleted, such as a topic's number or a version of the pool."},
    "DeletedCollectionView": {"title": "The title of the collection."},
    "RestoredView": {"kind": "What was restored."},
    "AuditEntryView": {
        "id": "The number of the line. Later lines have greater numbers.",
        "name": "The account, or for commands the operating-system user; empty when it is unknown.",
        "subject": "What the action was about, such as the tag of a run; empty when it has no subject.",
    },
    "JobStatus": {"id": "The number of the job."},
    "ProblemDetails": {"title": "The name of the HTTP status."},
}

PARAMETERS: Mapping[str, str] = {
    "slug": "The short name of the collection.",
    "tag": "The tag of the run.",
    "page": "Which page of the list, from 1.",
    "page_size": "The number of entries on a page.",
    "format": "The format of the answer.",
    "per_topic": "Whether the values of each topic are included.",
}

OF_OPERATIONS: Mapping[str, Mapping[str, str]] = {
    "show_topic": {"number": "The number of the topic."},
    "edit_topic": {"number": "The number of the topic."},
    "show_document": {"docno": "The identifier of the document."},
    "upload_run": {
        "description": "A description of the run.",
        "type": "How the run was made; by default automatic.",
    },
    "show_job": {"id_": "The number of the job."},
    "answer_question": {"number": "The number of the question."},
    "cancel_job": {"id_": "The number of the job."},
    "withdraw_invitation": {"number": "The number of the invitation."},
    "remove_member": {"name": "The name of the account."},
    "restore": {"number": "The number of the deletion."},
    "show_click_log": {"name": "The name of the log."},
    "link_click_log": {"name": "The name of the log."},
    "remove_click_log": {"name": "The name of the log."},
    "remove_fact": {"key": "The key of the fact."},
    "restore_collection": {"name": "The short name of the deleted collection."},
    "show_agreement": {
        "by": "Which table: all judges together, or by pair, topic, judge, grade or time.",
        "weights": "How differing grades weigh in kappa.",
    },
    "show_leaderboard": {
        "letters": "Whether runs get letters: runs that share a letter do not differ significantly.",
        "interval": "How the intervals of the means are computed: Student's t, or the bootstrap.",
    },
    "list_audit_entries": {
        "until": "Only before this time: ISO 8601 with a time zone.",
        "before": "Only entries with smaller numbers: `older` of the previous page.",
        "page_size": "The number of entries on a page.",
    },
}
