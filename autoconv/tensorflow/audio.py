"""`tensorflow.audio`: WAV files as tensors."""

from autoconv.io import audio_files as _files

decode_wav = _files.decode_wav
encode_wav = _files.encode_wav
