"""What Flipset costs, measured side by side with what it is held against: `make bench`."""
