"""Bounding boxes of images: overlaps, selections, random crops and proposals."""
