"""Conditions on the arguments of image, signal and text functions, checked before the call (`parameter_checks`)."""

from __future__ import annotations

import numpy as np

from autoconv.errors import AssertionFailedError
from autoconv.graph.dtype_sets import ANY, COMPLEX, FLOATING, INTEGERS, NUMERIC, SIGNED, SINGLE_OR_DOUBLE
from autoconv.graph.dtypes import float16, float32, int32, uint8, uint16
from autoconv.runtime.recording.parameter_checks import (
    ParameterCondition,
    Table,
    Values,
    at_least,
    dtypes,
    dtypes_checked_in_python,
    flags,
    has_attribute,
    integers,
    known_rank,
    ranks,
    same_dtype,
    scalars,
    shared_conditions,
    string_attributes,
    string_tensors,
)


def images(parameter: str, most: int | None = 4) -> ParameterCondition:
    """Images or batches of images, of 3 to `most` (None: any number of) dimensions; no size of the last three is 0."""

    def check(function: str, values: Values) -> None:
        """Raise ValueError for an image of a wrong rank or without elements."""
        image = values[parameter]
        rank = known_rank(image)
        if rank is None:
            return
        if rank < 3 or rank > (most or rank):
            raise ValueError(f"'{parameter}' of {function} must have 3 or {most or 'more'} dimensions, found {rank}")
        sizes = list(np.shape(image) if isinstance(image, (list, tuple)) else image.shape)
        if 0 in sizes[-3:]:
            raise ValueError(f"inner 3 dims of {parameter!r} must be > 0: {tuple(sizes)} [{function}]")

    return ParameterCondition((parameter,), check)


_IMAGE = (images("image"),)
_COLOUR_DTYPES = ANY - {float16}  # images are computed in float32; TensorFlow has no kernel for float16
_IMAGES = {
    **shared_conditions(
        "image.flip_left_right image.flip_up_down image_random.random_flip_left_right image.central_crop "
        "image_random.random_flip_up_down image_random.stateless_random_flip_left_right image.transpose "
        "image_random.stateless_random_flip_up_down",
        *_IMAGE,
    ),
    "image.resize_with_crop_or_pad": (*_IMAGE, integers("target_height target_width")),
    "image.per_image_standardization": (images("image", most=None),),
    "image.adjust_saturation": (dtypes("image", ANY, _COLOUR_DTYPES), scalars("saturation_factor")),
    "image.adjust_contrast": (
        dtypes("images", ANY, _COLOUR_DTYPES), dtypes("contrast_factor", frozenset({float32}), tensors_only=True),
        scalars("contrast_factor"),
    ),
    "image.adjust_hue": (dtypes("image", ANY, _COLOUR_DTYPES), ranks("image", 3)),
    **shared_conditions(
        "image_random.random_contrast image_random.random_saturation",
        dtypes("image", ANY, _COLOUR_DTYPES),
    ),
    "image_random.random_hue": (dtypes("image", ANY, _COLOUR_DTYPES), ranks("image", 3)),
    "image.sobel_edges": (has_attribute("image", "get_shape"), dtypes("image", FLOATING)),
    "image.image_gradients": (has_attribute("image", "get_shape"),),
    "image.total_variation": (
        ranks("images", 3, 4, ValueError),
        dtypes("images", FLOATING | SIGNED | COMPLEX),
    ),
    "io.image_files.encode_png": (dtypes("image", frozenset({uint8, uint16})),),
    "io.image_files.encode_jpeg": (dtypes("image", frozenset({uint8}), tensors_only=True),),
    **shared_conditions(
        "boxes.suppression.non_max_suppression boxes.suppression.non_max_suppression_with_scores",
        integers("max_output_size"), at_least("max_output_size", 0), ranks("boxes", 2, 2), ranks("scores", 1, 1),
    ),
    "image_random.random_crop": (ranks("size", 1, 1),),
    "image.rot90": (*_IMAGE, scalars("k", ValueError)),
}

_WINDOW = (
    integers("window_length"), scalars("window_length", ValueError), at_least("window_length", 0),
    has_attribute("dtype", "is_floating"),
)
_RFFT = dtypes("input_tensor", SINGLE_OR_DOUBLE, tensors_only=True)
_IRFFT = dtypes("input_tensor", COMPLEX, tensors_only=True)
_FFT_LENGTH = ranks("fft_length", 1, 1, TypeError)
_FRAME = same_dtype("frame_length", "frame_step")
_SIGNALS = {
    **shared_conditions(
        "signals.spectral.hann_window signals.spectral.hamming_window signals.windows.vorbis_window "
        "signals.windows.kaiser_bessel_derived_window",
        *_WINDOW,
    ),
    "signals.spectral.kaiser_window": (*_WINDOW, at_least("window_length", 1)),
    "signals.spectral.frame": (ranks("signal", 1, error=ValueError), at_least("frame_length", 0), _FRAME),
    "signals.spectral.stft": (_FRAME,),
    **shared_conditions(
        "signals.cosine_transforms.dct signals.cosine_transforms.idct",
        dtypes("input", ANY - COMPLEX, error=AssertionFailedError),
    ),
    "signals.fourier.rfft": (_RFFT, _FFT_LENGTH, ranks("input_tensor", 1, error=ValueError)),
    "signals.fourier.irfft": (_IRFFT, _FFT_LENGTH),
    "signals.transforms.rfft2d": (_RFFT, ranks("input_tensor", 2, error=ValueError)),
    "signals.transforms.irfft2d": (_IRFFT, ranks("input_tensor", 2, error=ValueError)),
    "signals.transforms.rfft3d": (_RFFT, ranks("input_tensor", 3, error=ValueError)),
    "signals.transforms.irfft3d": (_IRFFT, ranks("input_tensor", 3, error=ValueError)),
    **shared_conditions(
        "signals.fourier.fft2d signals.fourier.ifft2d",
        ranks("input", 2),
    ),
    **shared_conditions(
        "signals.fourier.fft3d signals.fourier.ifft3d",
        ranks("input", 3),
    ),
    "signals.spectral.overlap_and_add": (dtypes("signal", NUMERIC), dtypes_checked_in_python("frame_step", INTEGERS)),
    "signals.cosine_transforms.mdct": (ranks("signals", 1, error=ValueError),),
    "signals.cosine_transforms.inverse_mdct": (
        ranks("mdcts", 2, error=ValueError), dtypes("mdcts", ANY - COMPLEX, error=AssertionFailedError),
    ),
}

_ENCODING = string_attributes("input_encoding errors")
_TEXTS = {
    "strings.reduce_join": (flags("keepdims"),),
    "strings.length": (string_attributes("unit"),),
    "strings.unicode_encode": (
        string_attributes("output_encoding errors"), dtypes("input", frozenset({int32}), tensors_only=True),
        ranks("input", 1, error=ValueError),
    ),
    **shared_conditions(
        "string_parts.unicode_split string_parts.unicode_split_with_offsets string_parts.unicode_decode "
        "string_parts.unicode_decode_with_offsets",
        _ENCODING,
    ),
    "string_parts.split": (string_tensors("input"), string_tensors("sep")),
    "string_parts.ngrams": (string_tensors("data"),),
    "strings.regex_replace": (string_tensors("input pattern rewrite"), scalars("pattern rewrite")),
    "strings.regex_full_match": (string_tensors("input pattern"), scalars("pattern")),
}

MEDIA_CONDITIONS: Table = {**_IMAGES, **_SIGNALS, **_TEXTS}
