"""Splits text into words, finds their stems, and computes digests."""
