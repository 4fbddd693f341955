"""The commands for records."""
