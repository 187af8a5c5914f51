"""A participant's script: check runs, print problems and warnings, submit the runs without problems.

python participant.py https://annotator.example.org news ours.run better.run.gz    (the token in ANNOTATOR_TOKEN)
"""

import os
import sys
from pathlib import Path
from time import sleep
from typing import Any

import httpx

site, collection, *files = sys.argv[1:]
token = {"Authorization": f"Bearer {os.environ['ANNOTATOR_TOKEN']}"}
api = httpx.Client(base_url=f"{site}/api/v1/collections/{collection}", headers=token, timeout=600)


def send(where: str, file: Path) -> Any:
    """Send a file and return the answer; the site leaves a large file to its worker, for which this waits."""
    answer = api.post(where, params={"name": file.name}, content=file.read_bytes())
    if answer.status_code == 202:
        while not (job := api.get(f"/jobs/{answer.json()['id']}").raise_for_status().json())["finished_at"]:
            sleep(int(answer.headers["Retry-After"]))
        result, is_refused = job["result"] or job["problem"] or {"detail": job["state"]}, job["result"] is None
    else:
        result, is_refused = answer.json(), answer.is_error
    if is_refused:
        for problem in result.get("problems", []):
            print(f"{problem['file']}:{problem['line']}: {problem['detail']}", file=sys.stderr)
        sys.exit(result["detail"])
    return result


for file in map(Path, files):
    for warning in send("/run-checks", file)["warnings"]:
        print(f"{file.name}: warning: {warning}", file=sys.stderr)
    receipt = send("/runs", file)
    print(receipt["tag"], receipt["retrieved"], receipt["checksum"], receipt["uploaded_at"])
