"""annotator: runs in, pools judged by people, qrels and scores out."""
