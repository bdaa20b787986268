"""Finds symbols that have several contradicting definitions, and statements that disagree."""
