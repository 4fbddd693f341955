"""What a report counts, in streaming passes over the tables of a run."""
