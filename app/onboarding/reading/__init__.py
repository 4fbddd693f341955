"""A table of people, read once: every column as numbers and words, with what was seen in all of its rows."""
