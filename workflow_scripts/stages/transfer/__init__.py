"""Transfer tasks: what sentence embeddings are worth as features of a simple classifier."""
