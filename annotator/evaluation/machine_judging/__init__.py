"""Asking language models for grades: prompts, requests, what is in a response, votes, tokens and costs."""
