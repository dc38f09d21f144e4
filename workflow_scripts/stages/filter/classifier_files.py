"""The files of a classifier's folder, for those who read them without torch."""

WEIGHTS, VOCABULARY, METRICS = "weights.pt", "vocabulary.json", "metrics.json"
RECORD = "model"
