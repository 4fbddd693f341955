"""What the service is held against: no part of it."""
