"""The testbed: a simulated bitext whose meanings are known (a synchronous Czech-English grammar)."""
