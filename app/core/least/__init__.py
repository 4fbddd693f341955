"""How little would do: for each changed number, where the decision turns if the other changes stay."""
