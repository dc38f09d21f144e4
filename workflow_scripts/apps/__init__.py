"""The pages: annotation and the rewriter."""
