"""Does the served model say what the trainer's own library said, row by row? And if not, what is the likely reason?"""
