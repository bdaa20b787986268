"""One file lowered to points-to constraints."""
