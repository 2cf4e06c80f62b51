"""`tensorflow.audio`: WAV files as tensors."""

from autoconv.io.audio_files import decode_wav, encode_wav

__all__ = ["decode_wav", "encode_wav"]
