"""A participant's script: check runs, print problems and warnings, submit the runs without problems.

python participant.py https://annotator.example.org news ours.run better.run.gz    (the token in ANNOTATOR_TOKEN)
"""

import os
import sys
from pathlib import Path

from annotator.client import Site
from annotator.errors import AnnotatorError, FileRefusedError

address, collection, *files = sys.argv[1:]
with Site(address, os.environ["ANNOTATOR_TOKEN"]) as site:
    for file in map(Path, files):
        try:
            for warning in site.check_run(collection, file)["warnings"]:
                print(f"{file.name}: warning: {warning}", file=sys.stderr)
            receipt = site.submit_run(collection, file)
        except FileRefusedError as refused:
            for problem in refused.problems:
                print(f"{problem.file}:{problem.line}: {problem.sentence}", file=sys.stderr)
            sys.exit(str(refused))
        except AnnotatorError as refused:
            sys.exit(str(refused))
        print(receipt["tag"], receipt["retrieved"], receipt["checksum"], receipt["uploaded_at"])
