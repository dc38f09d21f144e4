"""Housekeeping: which runs there are, how two differ, what none of them needs (docs/runs.md)."""
