"""Answers for the people of a chunk: plain rows in batches, all others one by one."""
