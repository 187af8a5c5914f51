"""What goes over the wire when a judge opens the screen for the first time, and when documents come."""

import gzip
import json
import re

from benchmarks.judging_client import ask, batch_in
from benchmarks.judging_collection import SLUG

ASSETS = re.compile(r'(?:href|src)="(/static/[^"]+)"')
IMPORTED = re.compile(r'(?:from|import)\s*"(\./[^"]+)"')


def sizes(port: int, cookie: str) -> str:
    """A line with the bytes of a first visit, compressed, with all it loads, and of a batch of eight documents."""
    page = ask(port, "GET", f"/collections/{SLUG}/judge/topics/1", cookie)
    loaded = {address: ask(port, "GET", address, cookie) for address in set(ASSETS.findall(page.text()))}
    waiting = [address for address in loaded if ".js" in address]
    while waiting:
        # Modules that modules import.
        at = waiting.pop()
        for name in IMPORTED.findall(loaded[at].text()):
            address = f"{at.partition('?')[0].rpartition('/')[0]}/{name[2:]}"
            if address not in loaded:
                loaded[address] = ask(port, "GET", address, cookie)
                waiting.append(address)
    whole = page.size + sum(answer.size for answer in loaded.values())
    documents = json.dumps(batch_in(page.content)["documents"], ensure_ascii=False)
    batch = len(gzip.compress(documents.encode()))
    return f"first visit {whole} bytes in {len(loaded) + 1} files (the page alone {page.size}), a batch {batch} bytes"
