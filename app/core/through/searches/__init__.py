"""The searches on sums of tables: all subsets at once, branch and bound, and minimal covers."""
