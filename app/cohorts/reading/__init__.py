"""Reading people from files: the columns, and each value as it would be in JSON."""
