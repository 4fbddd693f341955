"""Models that live elsewhere: a server that speaks the Open Inference Protocol scores their rows."""
