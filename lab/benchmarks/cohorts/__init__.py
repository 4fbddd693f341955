"""What whole registers cost."""
