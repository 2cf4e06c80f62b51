"""Images as tensors."""

from autoconv.api.boxes.crops import crop_and_resize, draw_bounding_boxes
from autoconv.api.boxes.suppression import (
    combined_non_max_suppression,
    non_max_suppression,
    non_max_suppression_overlaps,
    non_max_suppression_padded,
    non_max_suppression_with_scores,
)
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
from autoconv.api.image_filters import (
    adjust_gamma,
    extract_patches,
    rgb_to_yiq,
    rgb_to_yuv,
    ssim,
    ssim_multiscale,
    yiq_to_rgb,
    yuv_to_rgb,
)
from autoconv.api.image_glimpses import extract_glimpse
from autoconv.api.image_random import (
    random_brightness,
    random_contrast,
    random_crop,
    random_flip_left_right,
    random_flip_up_down,
    random_hue,
    random_saturation,
    stateless_random_brightness,
    stateless_random_contrast,
    stateless_random_crop,
    stateless_random_flip_left_right,
    stateless_random_flip_up_down,
    stateless_random_hue,
    stateless_random_saturation,
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
from autoconv.io.image_quality import (
    adjust_jpeg_quality,
    decode_and_crop_jpeg,
    decode_webp,
    random_jpeg_quality,
    stateless_random_jpeg_quality,
)
from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions

__all__ = [
    "ResizeMethod", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_jpeg_quality",
    "adjust_saturation", "central_crop", "combined_non_max_suppression", "convert_image_dtype", "crop_and_resize",
    "crop_to_bounding_box", "decode_and_crop_jpeg", "decode_bmp", "decode_gif", "decode_image", "decode_jpeg",
    "decode_png", "decode_webp", "draw_bounding_boxes", "encode_jpeg", "encode_png", "extract_glimpse",
    "extract_jpeg_shape", "extract_patches", "flip_left_right", "flip_up_down", "grayscale_to_rgb", "hsv_to_rgb",
    "image_gradients", "is_jpeg", "non_max_suppression", "non_max_suppression_overlaps",
    "non_max_suppression_padded", "non_max_suppression_with_scores", "pad_to_bounding_box",
    "per_image_standardization", "psnr", "random_brightness", "random_contrast", "random_crop",
    "random_flip_left_right", "random_flip_up_down", "random_hue", "random_jpeg_quality", "random_saturation",
    "resize", "resize_with_crop_or_pad", "resize_with_pad", "rgb_to_grayscale", "rgb_to_hsv", "rgb_to_yiq",
    "rgb_to_yuv", "rot90", "sobel_edges", "ssim", "ssim_multiscale", "stateless_random_brightness",
    "stateless_random_contrast", "stateless_random_crop", "stateless_random_flip_left_right",
    "stateless_random_flip_up_down", "stateless_random_hue", "stateless_random_jpeg_quality",
    "stateless_random_saturation", "total_variation", "transpose", "yiq_to_rgb", "yuv_to_rgb",
]  # fmt: skip

_wrap_public_functions(globals())
