"""What the comparison leaves behind: figures, tables, a page. No answer depends on it."""
