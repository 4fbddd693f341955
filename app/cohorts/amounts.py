"""How much at a time, unless the command says otherwise. Apart from all else: the command line needs only these."""

# Rows of the input to a file of each table.
PARTITION_ROWS = 10_000
# People who are answered for together.
CHUNK_ROWS = 2_500
# A person may have more answers than anybody reads, and everybody's are kept until their partition is written.
MOST_COUNTERFACTUALS = 1_000
