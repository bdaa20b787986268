"""Lowers the functions and objects of one file to points-to constraints."""
