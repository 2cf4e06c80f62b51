"""TensorFlow's functions over the ops, a module or folder a family; `autoconv/_public.py` lists the public names."""
