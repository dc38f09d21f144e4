"""How much is computed at once, where nothing else is said: hypotheses, and target tokens."""

SEARCHED_ROWS, SCORED_TOKENS = 512, 4096
