"""JavaScript and TypeScript lowered to points-to constraints."""
