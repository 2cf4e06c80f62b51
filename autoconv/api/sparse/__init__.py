"""Sparse tensors and their functions, sets, embeddings and connectionist temporal classification."""
