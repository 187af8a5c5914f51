"""Labels for stored codes: roles, reasons, policies, strategies."""

from collections.abc import Mapping

from annotator.evaluation.costs.facts import FactKind, Per
from annotator.evaluation.runs.questionnaires import NO, YES, AnswerKind
from annotator.storage import CannotJudge, JudgingMode, Role, RunType, Showing, TopicState
from annotator.storage.judging.judge_history import AskedAgain
from annotator.storage.tables.collections import CollectionKind
from annotator.storage.tables.runs import RunState
from annotator.web.site.language import lazy_gettext
from annotator.workflows.people.invitations import InvitationState
from annotator.workflows.people.tokens import Scope
from annotator.workflows.site.mail import MailState

ROLES: Mapping[Role, str] = {
    Role.ORGANISER: lazy_gettext("organiser"),
    Role.JUDGE: lazy_gettext("judge"),
    Role.ADJUDICATOR: lazy_gettext("adjudicator"),
    Role.PARTICIPANT: lazy_gettext("participant"),
    Role.OBSERVER: lazy_gettext("observer"),
}

SCOPES: Mapping[Scope, str] = {
    Scope.READ: lazy_gettext("read: see and download what you may see"),
    Scope.RUNS: lazy_gettext("runs: check, send and withdraw runs"),
    Scope.JUDGE: lazy_gettext("judge: draw documents and grade them"),
    Scope.ORGANISE: lazy_gettext("organise: import, pool, change and export"),
}

# By their names in annotator.evaluation.outputs.registry.OUTPUTS.
OUTPUT_FORMATS: Mapping[str, str] = {
    "beir": lazy_gettext("BEIR"),
    "quepid": lazy_gettext("Quepid"),
    "csv": lazy_gettext("CSV"),
    "json": lazy_gettext("JSON"),
    "jsonl": lazy_gettext("JSON lines"),
    "judge": lazy_gettext("Labels with confidence, of one judge"),
    "label-studio": lazy_gettext("Label Studio: tasks"),
    "label-studio-config": lazy_gettext("Label Studio: labelling configuration"),
    "parquet": lazy_gettext("Parquet"),
}

INVITATION_STATES: Mapping[InvitationState, str] = {
    InvitationState.OPEN: lazy_gettext("not used yet"),
    InvitationState.USED: lazy_gettext("used"),
    InvitationState.WITHDRAWN: lazy_gettext("withdrawn"),
    InvitationState.EXPIRED: lazy_gettext("expired"),
}

MAIL_STATES: Mapping[MailState, str] = {
    MailState.WAITING: lazy_gettext("the e-mail waits to be sent"),
    MailState.SENT: lazy_gettext("sent by e-mail"),
    MailState.GIVEN_UP: lazy_gettext("the e-mail was not sent"),
}

CANNOT_JUDGE: Mapping[CannotJudge, str] = {
    CannotJudge.BROKEN: lazy_gettext("It is broken or unreadable"),
    CannotJudge.LANGUAGE: lazy_gettext("I do not read its language"),
    CannotJudge.NO_TEXT: lazy_gettext("It has no text"),
    CannotJudge.OTHER: lazy_gettext("Another reason (explain in the note)"),
}

ASKED_AGAIN: Mapping[AskedAgain, str] = {
    AskedAgain.TEXT_CHANGED: lazy_gettext(
        "The organisers asked for this document to be judged again: its text has changed since you judged it."
    ),
    AskedAgain.TEXT_CAME: lazy_gettext("You could not judge this document without a text; it has one now."),
}

# The keys of these reasons on the judging screen: letters, for digits are grades.
REASON_KEYS: Mapping[CannotJudge, str] = {
    CannotJudge.BROKEN: "b",
    CannotJudge.LANGUAGE: "f",
    CannotJudge.NO_TEXT: "m",
    CannotJudge.OTHER: "o",
}

JUDGING_MODES: Mapping[JudgingMode, str] = {
    JudgingMode.SHARED: lazy_gettext("shared"),
    JudgingMode.OWNED: lazy_gettext("owned"),
}

COLLECTION_KINDS: Mapping[CollectionKind, str] = {
    CollectionKind.SHARED_TASK: lazy_gettext("Shared task"),
    CollectionKind.COMPARISON: lazy_gettext("Team comparison"),
}

# What a collection calls its ranked lists, in menus and headings.
RUNS: Mapping[CollectionKind, str] = {
    CollectionKind.SHARED_TASK: lazy_gettext("Runs"),
    CollectionKind.COMPARISON: lazy_gettext("Systems"),
}

RUN_TYPES: Mapping[str, str] = {
    RunType.UNKNOWN: lazy_gettext("not stated"),
    RunType.AUTOMATIC: lazy_gettext("automatic"),
    RunType.MANUAL: lazy_gettext("manual"),
}

TOPIC_STATES: Mapping[TopicState, str] = {
    TopicState.DRAFT: lazy_gettext("draft"),
    TopicState.ACCEPTED: lazy_gettext("accepted"),
    TopicState.DROPPED: lazy_gettext("dropped"),
}

POLICIES: Mapping[str, str] = {
    "owner": lazy_gettext("owner of the topic"),
    "owner-else-majority": lazy_gettext("owner of the topic, else majority"),
    "majority": lazy_gettext("majority"),
    "majority-first": lazy_gettext("majority, ties to the first judge"),
    "median": lazy_gettext("median"),
    "lowest": lazy_gettext("lowest"),
    "highest": lazy_gettext("highest"),
    "any-relevant": lazy_gettext("relevant for any judge"),
    "all-relevant": lazy_gettext("relevant for all judges"),
    "adjudicated-else-owner": lazy_gettext("adjudicated, else owner of the topic"),
    "adjudicated-else-owner-else-majority": lazy_gettext("adjudicated, else owner of the topic, else majority"),
    "adjudicated-else-majority": lazy_gettext("adjudicated, else majority"),
    "adjudicated-else-majority-first": lazy_gettext("adjudicated, else majority, ties to the first judge"),
    "adjudicated-else-median": lazy_gettext("adjudicated, else median"),
    "adjudicated-else-lowest": lazy_gettext("adjudicated, else lowest"),
    "adjudicated-else-highest": lazy_gettext("adjudicated, else highest"),
    "adjudicated-else-any-relevant": lazy_gettext("adjudicated, else relevant for any judge"),
    "adjudicated-else-all-relevant": lazy_gettext("adjudicated, else relevant for all judges"),
}

STRATEGIES: Mapping[str, str] = {
    "depth": lazy_gettext("depth-k union of runs"),
    "rrf": lazy_gettext("reciprocal rank fusion"),
    "borda": lazy_gettext("Borda count"),
    "rbp": lazy_gettext("RBP weights"),
    "combmnz": lazy_gettext("CombMNZ"),
    "ntcir": lazy_gettext("NTCIRPOOL"),
    "mtf": lazy_gettext("move-to-front"),
    "maxmean": lazy_gettext("MaxMean"),
    "maxmean-ns": lazy_gettext("non-stationary MaxMean"),
    "hedge": lazy_gettext("Hedge"),
    "lara": lazy_gettext("least certain for a machine (LARA)"),
    "cal": lazy_gettext("continuous active learning"),
    "stratified": lazy_gettext("stratified sample"),
    "sample": lazy_gettext("sample for estimates"),
    "clicks": lazy_gettext("what users clicked"),
    "import": lazy_gettext("import of labels"),
    "search": lazy_gettext("search"),
    "test-questions": lazy_gettext("gold questions"),
}

STOPPING_RULES: Mapping[str, str] = {
    "target-set": lazy_gettext("target set (QBCB)"),
    "hypergeometric": lazy_gettext("hypergeometric test of the sample"),
    "autostop": lazy_gettext("Horvitz-Thompson estimate (AutoStop)"),
    "knee": lazy_gettext("knee"),
    "budget": lazy_gettext("budget"),
    "hypergeometric-retrospective": lazy_gettext("hypergeometric test of the last documents"),
    "in-a-row": lazy_gettext("documents in a row without a relevant one"),
    "keep-or-drop": lazy_gettext("NIST: 2 R + 100"),
}

# With when to use each.
RECOMMENDED_STRATEGIES: Mapping[str, str] = {
    "depth": lazy_gettext("For a shared task: fair to every run, easy to explain, and the size is known beforehand."),
    "rrf": lazy_gettext("For a fixed number of documents: those that most runs rank high are judged first."),
    "maxmean": lazy_gettext(
        "For the most relevant documents per hour: chosen while judging, from the runs that find them."
    ),
    "cal": lazy_gettext("For high recall, as in a systematic review: a classifier of the texts chooses while judging."),
    "sample": lazy_gettext(
        "For few judgements beside a machine's labels: drawn at random, so that scores have valid intervals."
    ),
}

POOL_PARAMETERS: Mapping[str, str] = {
    "depth": lazy_gettext("depth"),
    "budget": lazy_gettext("documents in total"),
    "per_topic": lazy_gettext("documents of each topic"),
    "until": lazy_gettext("until the rule"),
    "start_depth": lazy_gettext("depth to start with"),
    "update": lazy_gettext("learning"),
    "ties": lazy_gettext("ties"),
    "decimals": lazy_gettext("decimals compared"),
    "strata": lazy_gettext("strata"),
    "candidates": lazy_gettext("candidates"),
    "batch": lazy_gettext("judgements between rounds of training"),
    "machine": lazy_gettext("machine"),
    "machine_sha256": lazy_gettext("SHA-256 of its labels"),
    "frame": lazy_gettext("documents to draw from"),
    "unlabelled": lazy_gettext("of these without its label"),
    "found": lazy_gettext("found by choices or searches"),
    "certainty_depth": lazy_gettext("judged whole to depth"),
    "bands": lazy_gettext("bands end at"),
    "allocation": lazy_gettext("allocation"),
    "priority": lazy_gettext("priority up to"),
    "per_team": lazy_gettext("runs per team"),
    "task": lazy_gettext("task"),
    "depth_of": lazy_gettext("other depths"),
}

SHOWINGS: Mapping[str, str] = {
    Showing.RANDOM: lazy_gettext("random"),
    Showing.DOCNO: lazy_gettext("by docno"),
    Showing.SELECTION: lazy_gettext("as chosen"),
}

RUN_STATES: Mapping[str, str] = {
    RunState.IN_FORCE: lazy_gettext("active"),
    RunState.WITHDRAWN: lazy_gettext("withdrawn"),
    RunState.REPLACED: lazy_gettext("replaced"),
}

COST_KINDS: Mapping[str, str] = {
    FactKind.NUMBER: lazy_gettext("a number"),
    FactKind.WORDS: lazy_gettext("words"),
    FactKind.LIST: lazy_gettext("words with commas between them"),
}

ANSWER_KINDS: Mapping[str, str] = {
    AnswerKind.TEXT: lazy_gettext("text"),
    AnswerKind.NUMBER: lazy_gettext("a number"),
    AnswerKind.CHOICE: lazy_gettext("one of several choices"),
    AnswerKind.YES_NO: lazy_gettext("yes or no"),
    AnswerKind.EMAIL: lazy_gettext("an e-mail address"),
}

YES_NO: Mapping[str, str] = {YES: lazy_gettext("yes"), NO: lazy_gettext("no")}

COST_ENDS: Mapping[str, str] = {
    "neither": lazy_gettext("neither end"),
    "less": lazy_gettext("less"),
    "more": lazy_gettext("more"),
}

COST_DETAILS: Mapping[str, str] = {
    Per.SYSTEM: "",
    Per.DOCUMENTS: lazy_gettext("documents"),
    Per.QUERY_TYPE: lazy_gettext("type of query"),
}
