"""Renders answers: for people as text, for programs as JSON."""
