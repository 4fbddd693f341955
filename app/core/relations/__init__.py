"""Relations between values, such as `hirat <= pirat`: what they say, and the formulas that they become."""
