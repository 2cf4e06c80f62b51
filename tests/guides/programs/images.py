import autoconv as tf

# %%
image = tf.reshape(tf.range(4 * 6 * 3), [4, 6, 3])
image = tf.cast(image * 3 % 256, tf.uint8)
print(image.shape, image.dtype, image[0, 0])
converted = tf.image.convert_image_dtype(image, tf.float32)
print(converted[0, :2], converted.dtype)
print(tf.image.convert_image_dtype(converted, tf.uint8)[1, 1])
# %%
print(tf.image.resize(converted, [2, 3])[0])
for method in ("nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"):
    print(method, tf.image.resize(converted, [3, 4], method=method)[1, 2])
print(tf.image.resize(converted, [3, 5], antialias=True)[1, 2])
print(tf.image.resize_with_pad(converted, 5, 5)[2, 2], tf.image.resize_with_crop_or_pad(image, 6, 4).shape)
# %%
print(tf.image.flip_left_right(image)[0, 0], tf.image.flip_up_down(image)[0, 0], tf.image.rot90(image).shape)
print(tf.image.central_crop(image, 0.5).shape, tf.image.crop_to_bounding_box(image, 1, 2, 2, 3)[0, 0])
print(tf.image.pad_to_bounding_box(image, 1, 1, 6, 8)[1, 1], tf.image.transpose(image).shape)
# %%
grayscaled = tf.image.rgb_to_grayscale(image)
print(tf.squeeze(grayscaled)[0], tf.image.grayscale_to_rgb(grayscaled).shape)
print(tf.image.adjust_saturation(converted, 3)[0, 1], tf.image.adjust_brightness(converted, 0.4)[0, 1])
print(tf.image.adjust_contrast(converted, 2.0)[0, 1], tf.image.adjust_hue(converted, 0.2)[0, 1])
print(tf.image.adjust_gamma(converted, 0.5)[0, 1], tf.image.per_image_standardization(converted)[0, 1])
print(tf.image.rgb_to_hsv(converted)[1, 1], tf.image.hsv_to_rgb(converted)[1, 1], tf.image.rgb_to_yuv(converted)[1, 1])
# %%
for i in range(3):
    seed = (i, 0)
    print(tf.image.stateless_random_brightness(converted, max_delta=0.95, seed=seed)[0, 0])
    print(tf.image.stateless_random_contrast(converted, lower=0.1, upper=0.9, seed=seed)[0, 0])
    print(tf.image.stateless_random_crop(image, size=[2, 3, 3], seed=seed)[0, 0])
    print(tf.image.stateless_random_flip_left_right(image, seed)[0, 0])
    print(tf.image.stateless_random_saturation(converted, 0.5, 1.0, seed)[0, 1])
    print(tf.image.stateless_random_hue(converted, 0.2, seed)[0, 1])
# %%
rng = tf.random.Generator.from_seed(123, alg="philox")
print(rng.make_seeds(2)[0])


def augment(image, label, seed):
    image = tf.image.resize_with_crop_or_pad(tf.cast(image, tf.float32) / 255.0, 6, 6)
    new_seed = tf.random.split(seed, num=1)[0, :]
    image = tf.image.stateless_random_crop(image, size=[4, 4, 3], seed=seed)
    image = tf.image.stateless_random_brightness(image, max_delta=0.5, seed=new_seed)
    return tf.clip_by_value(image, 0, 1), label


counter = tf.data.experimental.Counter()
train = tf.data.Dataset.zip((tf.data.Dataset.from_tensors((image, 1)).repeat(3), (counter, counter)))
for found, label in train.map(lambda pair, seed: augment(pair[0], pair[1], seed)):
    print(found[1, 1], label)
# %%
png = tf.io.encode_png(image)
print(tf.reduce_all(tf.io.decode_png(png) == image), tf.io.decode_image(png).shape, tf.io.is_jpeg(png))
print(tf.image.total_variation(converted), tf.image.sobel_edges(converted[None])[0, 1, 1, 0])
plain = tf.reshape(tf.range(256.0), [16, 16, 1]) / 256.0
print(tf.image.psnr(converted, converted * 0.9, 1.0), tf.image.ssim(plain, plain * plain, 1.0))
dy, dx = tf.image.image_gradients(converted[None])
print(dy[0, 0, 0], dx[0, 0, 0])
# %%
patches = tf.image.extract_patches(converted[None], [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
print(patches.shape, patches[0, 0, 0, :4])
same = tf.image.extract_patches(converted[None], [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME")
print(same.shape, same[0, 0, 0, :12])
# %%
layer = tf.keras.Sequential([tf.keras.layers.Resizing(2, 2), tf.keras.layers.Rescaling(1.0 / 255)])
print(layer(tf.cast(image, tf.float32)[None])[0, 0])
flip = tf.keras.Sequential(
    [tf.keras.layers.RandomFlip("horizontal", seed=1), tf.keras.layers.RandomRotation(0.2, seed=2)]
)
print(flip(converted[None], training=False)[0, 0, 0], flip(converted[None], training=True).shape)
