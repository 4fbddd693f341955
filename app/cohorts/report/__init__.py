"""The report of a run: two streaming passes over its tables, and one page of figures."""
