"""What is read inside a graph: sums that turn into outputs, so that a search need not try every row."""
