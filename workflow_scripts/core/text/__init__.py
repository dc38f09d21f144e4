"""Characters, tokens and letters of texts."""
