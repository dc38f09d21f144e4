"""What a run will do, before any of its jobs: its configuration, units and folders."""
