"""What is learned from records."""
