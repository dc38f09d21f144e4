"""Stage dual_filter: pairs that two models of trusted bitext find likely (ParaBank 2, 3.1)."""
