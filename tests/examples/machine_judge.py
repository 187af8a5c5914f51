"""A judge that is a program: draw documents of every topic and grade them; here by counting words of the title.

python machine_judge.py https://annotator.example.org news    (the token in ANNOTATOR_TOKEN)
"""

import os
import sys
from typing import Any

from annotator.client import Site
from annotator.errors import AnnotatorError


def grade(topic: dict[str, str], document: dict[str, str]) -> int:
    """1 when a document has half of the words of the topic's title, 0 otherwise: put your model here."""
    text = f"{document['title']} {document['body']}".lower().split()
    wanted = topic["title"].lower().split()
    return int(2 * sum(word in text for word in wanted) >= len(wanted))


def judgement(topic: dict[str, str], document: dict[str, Any]) -> dict[str, object]:
    """A judgement; its id is ours and the same each time, so that what is sent twice is stored once."""
    decision = {"cannot_judge": "no-text"} if document["body"] is None else {"grade": grade(topic, document)}
    return {"id": f"counting-1-{document['assignment']}", "assignment": document["assignment"], **decision}


address, collection = sys.argv[1:]
with Site(address, os.environ["ANNOTATOR_TOKEN"]) as site:
    try:
        for topic in site.topics_to_judge(collection):
            while (drawn := site.draw(collection, topic["number"]))["documents"]:
                stored = site.judge(collection, [judgement(drawn["topic"], one) for one in drawn["documents"]])
                print(topic["number"], len(stored["acknowledged"]), *stored["refused"])
    except AnnotatorError as refused:
        sys.exit(str(refused))
