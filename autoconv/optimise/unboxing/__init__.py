"""What the pass `unbox` knows of objects: their kinds, what is done with numbers, what with lists of them."""
