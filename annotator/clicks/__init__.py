"""Click logs, interleaving, and clicks beside judgements. Only `app.py`, the commands and the menu use it."""
