"""The automatic measures of ParaBank 2, section 3.6, and the testbed's own."""
