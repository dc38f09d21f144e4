"""SentencePiece models of the bitext's two sides, and training data cut into their pieces."""
