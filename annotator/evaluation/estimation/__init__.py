"""Estimates of measures from a random sample of judgements, with a machine's grades of all documents where there are.

The estimator is the difference (or regression) estimator of survey sampling, which prediction-powered inference uses:
the total of a machine's grades of all documents, corrected by the sample of what people graded otherwise.
"""
