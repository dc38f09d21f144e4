"""How figures are rounded before they go into JSON."""

# The last bits of a logarithm differ between processors.
DECIMALS = 6
