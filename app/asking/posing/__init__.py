"""From a request to a posed problem: names become positions, and everything that can be refused is refused here."""
