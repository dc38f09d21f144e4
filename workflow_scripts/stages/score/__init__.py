"""Score: backward NLL of every distinct candidate, and the sum of both (ParaBank 2, 2.2)."""
