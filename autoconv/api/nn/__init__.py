"""Functions of neural networks: layers, convolutions, pooling, correlations, statistics."""
