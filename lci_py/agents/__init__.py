"""What coding agents read about lci: their files, and how lci writes itself into them and takes itself out again."""
