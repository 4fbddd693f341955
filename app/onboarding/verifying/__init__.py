"""Does a registry fit these people? Counted, and told as a table and as a page."""
