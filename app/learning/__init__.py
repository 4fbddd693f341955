"""What is learned from records: how hard changes are, which are declined and why, and what was achieved."""
