"""Sound as the bytes of WAV files, 16 bits a sample."""

from __future__ import annotations

import io
import wave
from typing import Any, ClassVar, NamedTuple

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import float32, int32, string
from autoconv.io.host_function import call_on_host
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


class DecodeWav(NamedTuple):
    """The result of `decode_wav`."""

    audio: Tensor
    sample_rate: Tensor


def decode_wav(
    contents: TensorLike, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> DecodeWav:
    """Return the samples of a WAV file's bytes, float32 from -1 to 1 [samples, channels], and their number a second.

    The file has 16 bits a sample. With `desired_samples`, the samples are cut or filled up with zeros. With
    `desired_channels` the first channel is repeated, or later ones are dropped. Raises InvalidArgumentError for other
    bytes.

    >>> sound = autoconv.io.decode_wav(autoconv.io.encode_wav([[0.0], [0.5]], 8000))
    >>> sound.audio.numpy().ravel().round(3), sound.sample_rate.numpy()
    (array([0. , 0.5], dtype=float32), np.int32(8000))
    """
    sample_count = None if desired_samples < 0 else desired_samples
    shape = (sample_count, None if desired_channels < 0 else desired_channels)
    specs = [TensorSpec(shape, float32), TensorSpec((), int32)]
    contents_tensor = convert_to_tensor(contents, string)
    audio, rate = call_on_host(ReadWav(int(desired_channels), int(desired_samples)), [contents_tensor], specs)
    return DecodeWav(audio, rate)


def encode_wav(audio: TensorLike, sample_rate: TensorLike, name: str | None = None) -> Tensor:
    """Return the bytes of a WAV file of samples [samples, channels] from -1 to 1, 16 bits a sample.

    >>> autoconv.io.encode_wav([[0.0], [0.5]], 8000).numpy()[:4]
    b'RIFF'
    """
    inputs = [convert_to_tensor(audio, float32), convert_to_tensor(sample_rate, int32)]
    return call_on_host(WriteWav(), inputs, [TensorSpec((), string)])[0]


@attribute_class
@dataclass(frozen=True)
class ReadWav:
    """Read a WAV file: as many samples and channels as desired, where -1 stands for all of the file."""

    graphdef_name: ClassVar = "DecodeWav"
    desired_channels: int
    desired_samples: int

    def __call__(self, contents: object) -> Any:
        file_bytes = bytes(np.asarray(contents, object).item())
        try:
            with wave.open(io.BytesIO(file_bytes)) as file:
                bytes_per_sample, channel_count, rate = file.getsampwidth(), file.getnchannels(), file.getframerate()
                frames = file.readframes(file.getnframes())
        except (wave.Error, EOFError) as error:
            raise InvalidArgumentError(f"Header mismatch: the bytes are no WAV file: {error}") from None
        if bytes_per_sample != 2:
            raise InvalidArgumentError(f"Can only read 16-bit WAV files, but received {8 * bytes_per_sample}")
        samples = np.frombuffer(frames, "<i2").reshape(-1, channel_count).astype(np.float32) / np.float32(32768)
        if self.desired_samples >= 0:
            missing_count = max(self.desired_samples - len(samples), 0)
            samples = np.pad(samples[: self.desired_samples], [[0, missing_count], [0, 0]])
        if self.desired_channels >= 0:
            repeated_channels = np.repeat(samples[:, :1], max(self.desired_channels - channel_count, 0), axis=1)
            samples = np.concatenate([samples[:, : self.desired_channels], repeated_channels], axis=1)
        return samples, np.int32(rate)


@attribute_class
@dataclass(frozen=True)
class WriteWav:
    """Write samples as a WAV file."""

    graphdef_name: ClassVar = "EncodeWav"

    def __call__(self, audio: Any, rate: Any) -> Any:
        samples = np.asarray(audio)
        if samples.ndim != 2 or not samples.size:
            shape = list(samples.shape)
            raise InvalidArgumentError(f"audio must be 2-dimensional and not empty, but got shape {shape}")
        integers = np.clip(np.round(samples.astype(np.float64) * 32768), -32768, 32767).astype("<i2")
        buffer = io.BytesIO()
        with wave.open(buffer, "wb") as file:
            file.setnchannels(samples.shape[1])
            file.setsampwidth(2)
            file.setframerate(int(rate))
            file.writeframes(integers.tobytes())
        return np.array(buffer.getvalue(), object)
