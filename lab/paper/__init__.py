"""What Flipset is held against. The service never imports it."""
