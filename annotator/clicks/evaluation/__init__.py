"""User behaviour on shown results: click logs, interleaving, and the evidence of either about a variant."""
