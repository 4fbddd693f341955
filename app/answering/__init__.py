"""From a question to its answer: the service, and what it has under way. No HTTP."""
