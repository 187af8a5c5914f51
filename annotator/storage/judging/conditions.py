"""Conditions on assignments and judgements that several queries share, as the partial indexes have them.

Word for word: SQLAlchemy would compare with a value, and the indexes would not be used.
"""

from sqlalchemy import text

from annotator.storage.tables.judging import Judgement
from annotator.storage.tables.people import MACHINES

# In somebody's hands, or done; a second showing is none of the two.
HAS_IT = text("assignment.state <> 'returned' AND assignment.purpose <> 're-shown'")
SHOWN_AGAIN = text("assignment.state <> 'returned' AND assignment.purpose = 're-shown'")
# Whether somebody was given an item to decide, or to judge.
DECIDES = text("assignment.purpose = 'adjudication'")
JUDGES = text("assignment.purpose <> 'adjudication'")
CURRENT = text("judgement.current")
OF_PEOPLE = Judgement.judge_id.not_in(MACHINES)
# How the client ids of imported labels begin; archives keep them.
OF_A_FILE = "file-"
# All labels of a file have the moment of its import, and the order of its lines.
HAS_OWN_TIME = Judgement.client_id.not_like(f"{OF_A_FILE}%")
