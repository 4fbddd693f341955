"""From a model and a table of people to a served model: learning ranges, drafting files, comparing, verifying."""
