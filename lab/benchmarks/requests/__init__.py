"""What requests cost: rates, first answers, deadlines, memory, the page."""
