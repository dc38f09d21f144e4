"""What a configuration will cost, before anything is started (docs/scaling.md)."""
