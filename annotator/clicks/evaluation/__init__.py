"""What people do with results that are shown to them: click logs, interleaving, and what either tells of a variant."""
