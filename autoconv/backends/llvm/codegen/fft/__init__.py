"""Lowerings of Fourier transforms of constant sizes, by stages or as a convolution with a chirp."""
