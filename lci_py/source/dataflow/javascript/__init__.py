"""Lowers JavaScript and TypeScript to points-to constraints."""
