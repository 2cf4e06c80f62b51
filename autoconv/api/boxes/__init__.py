"""Bounding boxes of images: crops, and suppression of boxes that overlap."""
