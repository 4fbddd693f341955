"""The methods that the CEMSP paper compares itself with, each a `Method`. All may move every feature, to any value."""
