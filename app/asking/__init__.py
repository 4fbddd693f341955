"""From a request, as data, to a posed question; what is refused is refused here. No HTTP."""
