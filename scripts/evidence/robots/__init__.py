"""Robots: the closed loop, tables of their functions, and the document that shows them."""
