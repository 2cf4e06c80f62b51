"""Images as tensors."""

from autoconv.api.image import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_saturation,
    central_crop,
    convert_image_dtype,
    crop_to_bounding_box,
    flip_left_right,
    flip_up_down,
    grayscale_to_rgb,
    hsv_to_rgb,
    image_gradients,
    pad_to_bounding_box,
    per_image_standardization,
    psnr,
    resize_with_crop_or_pad,
    rgb_to_grayscale,
    rgb_to_hsv,
    rot90,
    sobel_edges,
    total_variation,
    transpose,
)
from autoconv.api.image_resizing import ResizeMethod, resize, resize_with_pad
from autoconv.io.image_files import (
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    encode_jpeg,
    encode_png,
    extract_jpeg_shape,
    is_jpeg,
)
from autoconv.runtime.recording.tracebacks import present_functions as _present_functions

__all__ = [
    "ResizeMethod", "adjust_brightness", "adjust_contrast", "adjust_hue", "adjust_saturation", "central_crop",
    "convert_image_dtype", "crop_to_bounding_box", "decode_bmp", "decode_gif", "decode_image", "decode_jpeg",
    "decode_png", "encode_jpeg", "encode_png", "extract_jpeg_shape", "flip_left_right", "flip_up_down",
    "grayscale_to_rgb", "hsv_to_rgb", "image_gradients", "is_jpeg", "pad_to_bounding_box", "per_image_standardization",
    "psnr", "resize", "resize_with_crop_or_pad", "resize_with_pad", "rgb_to_grayscale", "rgb_to_hsv", "rot90",
    "sobel_edges", "total_variation", "transpose",
]  # fmt: skip

_present_functions(globals())
