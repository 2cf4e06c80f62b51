"""Functions of neural networks: activations, convolutions, pooling, losses, normalisation."""
