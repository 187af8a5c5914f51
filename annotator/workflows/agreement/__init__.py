"""Agreement between judges, adjudication, and quality of judges."""
