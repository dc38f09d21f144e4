"""The judge: the probability that a paraphrase is a good one."""
