"""When to stop judging: the documents of a topic in the order of judging, stopping rules, and estimates of recall."""
