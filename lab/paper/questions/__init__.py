"""What the methods are asked: data, networks, and the questions made of them."""
