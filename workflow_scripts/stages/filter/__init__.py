"""From paraphrases to training sets: columns of every pair, and bounds on them."""
