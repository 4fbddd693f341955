"""Default amounts, in a module of their own: the command line needs only these."""

# Input rows in each file of a table.
PARTITION_ROWS = 10_000
# Rows that a worker takes at once.
CHUNK_ROWS = 2_500
# A person may have more answers than anyone reads, and all are kept in memory until their partition is written.
MOST_COUNTERFACTUALS = 1_000
