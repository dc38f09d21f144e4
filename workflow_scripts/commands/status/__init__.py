"""How far a run is: read from its records, its events and the logs of its jobs (docs/runs.md)."""
