"""What every stage shares: files, manifests, configuration, seeding, progress."""
