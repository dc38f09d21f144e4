"""What knows nothing of paraphrases: files, text, statistics, reports, and how a command runs."""
