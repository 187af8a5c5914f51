"""Documents made to harm: nothing of them runs, loads anything or leads away."""

import json
import re

import pytest
from build import SLUG, member, news, pool, run, topic_file
from flask import Flask
from kept import Kept
from visiting import Visitor

from annotator.files import InputFile
from annotator.storage import Database, Role
from annotator.web.documents.document_parts import document_parts
from annotator.workflows.documents import documents

HOSTILE = {
    "script": "<p>x</p><script>alert(1)</script><script src=//evil.example></script>",
    "handlers": "<p onclick=alert(1)>x</p><img src=x onerror=alert(1)><details open ontoggle=alert(1)>y</details>",
    "svg": "<div><svg onload=alert(1)><script>alert(1)</script><foreignObject><iframe src=//evil.example></svg>x</div>",
    "mathml": "<div><math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img onerror=alert(1)&gt;'>x",
    "css": "<p style='background:url(//evil.example)'>x</p><style>@import '//evil.example';</style>",
    "link": "<p>x</p><link rel=stylesheet href=//evil.example><base href=//evil.example>",
    "refresh": "<p>x</p><meta http-equiv=refresh content='0;url=//evil.example'>",
    "frame": "<p>x</p><iframe srcdoc='<script>alert(1)</script>'></iframe><object data=//evil.example></object><embed>",
    "form": "<p>x</p><form action=//evil.example><input name=password><button>y</button></form>",
    "address": "<p><a href='javascript:alert(1)'>x</a><a href='&#106;avascript:x'>y</a><a href='data:,z'>z</a>",
    "template": "<p>x</p><template><script>alert(1)</script></template><noscript><p title='</noscript><script>x'>",
}
MAY_NOT = re.compile(
    r"<(?!/?(?:a|abbr|b|blockquote|br|caption|cite|code|dd|div|dl|dt|em|figcaption|figure|h[1-6]|hr|i|kbd|li|mark|ol|p"
    r"|pre|q|s|samp|span|strong|sub|sup|table|tbody|td|tfoot|th|thead|tr|u|ul)[\s>])|\son\w+=|style=|javascript:|data:"
    r"|evil\.example|alert",
    re.IGNORECASE,
)


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_of_a_hostile_document_runs_loads_or_leads_away(name: str) -> None:
    for part in document_parts(HOSTILE[name]):
        assert MAY_NOT.search(part) is None


def fill(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
        run(session, "alpha", {"1": list(HOSTILE)})
        lines = "".join(json.dumps({"docno": name, "body": body}) + "\n" for name, body in HOSTILE.items())
        sent = [InputFile("documents.jsonl", lines.encode())]
        documents.import_documents(session, SLUG, documents.read_documents(sent, fields={}, unpacked_limit=1 << 20))
        pool(session, depth=len(HOSTILE))
        member(session, "jo", Role.JUDGE)


def test_what_a_judge_is_sent_of_them_is_as_harmless(app: Flask, database: Database, kept: Kept) -> None:
    kept.fill(database, fill)
    jo = Visitor(app, database, "jo")
    page = jo.get(f"/collections/{SLUG}/judge/topics/1")
    assert page.status_code == 200
    sent = jo.client.post(f"/collections/{SLUG}/judge/topics/1/acts", json={"acts": [], "draw": True, "holds": []})
    bodies = [document["html"] for document in json.loads(sent.text)["documents"]]
    assert bodies
    for body in bodies:
        assert MAY_NOT.search(body) is None
