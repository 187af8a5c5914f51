"""A participant's script: checks runs, prints what is wrong or strange about each, sends what is right.

python participant.py https://annotator.example.org news ours.run better.run.gz    (the token in ANNOTATOR_TOKEN)
"""

import os
import sys
from pathlib import Path

import httpx

site, collection, *files = sys.argv[1:]
api = httpx.Client(
    base_url=f"{site}/api/v1/collections/{collection}",
    headers={"Authorization": f"Bearer {os.environ['ANNOTATOR_TOKEN']}"},
    timeout=600,
)
for file in map(Path, files):
    name, content = {"name": file.name}, file.read_bytes()
    checked = api.post("/run-checks", params=name, content=content)
    if checked.status_code == 422:
        for problem in checked.json().get("problems", []):
            print(f"{problem['file']}:{problem['line']}: {problem['detail']}", file=sys.stderr)
        sys.exit(checked.json()["detail"])
    checked.raise_for_status()
    for warning in checked.json()["warnings"]:
        print(f"{file.name}: warning: {warning}", file=sys.stderr)
    receipt = api.post("/runs", params=name, content=content).raise_for_status().json()
    print(receipt["tag"], receipt["retrieved"], receipt["checksum"], receipt["uploaded_at"])
