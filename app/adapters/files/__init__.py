"""Files as they were at one moment, what is written in them, and what is wrong with it."""
