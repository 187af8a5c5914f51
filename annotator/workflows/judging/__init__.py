"""Judging: the queue, recording of judgements, gold questions, training, imports and exports of labels."""
