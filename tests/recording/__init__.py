"""What is taken down of answers, and written."""
