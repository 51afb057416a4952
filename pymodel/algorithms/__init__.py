"""The algorithm text, generic over its scalars."""
