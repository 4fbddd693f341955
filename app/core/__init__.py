"""The problem and its engines: pure, with no files, no environment, no HTTP, no logging and no clock of its own."""
