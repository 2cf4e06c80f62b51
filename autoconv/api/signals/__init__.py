"""Windows, frames and transforms of signals."""
