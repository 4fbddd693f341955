"""What a run leaves to read: its tables gathered in two streaming passes, and one page of figures made of them."""
