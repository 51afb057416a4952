"""Sections of docs/hardware_cost.md; each function gives Markdown."""
