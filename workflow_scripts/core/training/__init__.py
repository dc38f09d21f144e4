"""What all trainings of our own have in common; Sockeye has its own loop."""
