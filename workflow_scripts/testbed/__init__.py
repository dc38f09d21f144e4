"""The testbed: a simulated Czech-English bitext whose meanings are known."""
