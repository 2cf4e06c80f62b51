"""Models that make or change data: variational and adversarial steps, styles, dreams, policies, spectra, shards."""

# %% A variational step: means and variances, a sample by fixed noise, and the evidence bound
import autoconv as tf

encoder = tf.Variable([[0.5, -0.25], [0.125, 1.0], [0.75, 0.5]])
decoder = tf.Variable([[0.25, 0.5, -0.5]])


@tf.function
def bound(x, noise):
    mean, log_variance = tf.split(x @ encoder, num_or_size_splits=2, axis=1)
    latent = mean + tf.exp(0.5 * log_variance) * noise
    logits = latent @ decoder
    entropy = tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=x)
    divergence = -0.5 * tf.reduce_sum(1 + log_variance - mean**2 - tf.exp(log_variance), axis=1)
    return tf.reduce_mean(tf.reduce_sum(entropy, axis=1) + divergence)


x = tf.constant([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
with tf.GradientTape() as tape:
    loss = bound(x, tf.constant([[0.5], [-1.0]]))
print(loss)
for gradient in tape.gradient(loss, [encoder, decoder]):
    print(gradient.numpy())

# %% An adversarial step: two tapes over one forward pass
generator, critic = tf.Variable([[1.0, -1.0]]), tf.Variable([[0.5], [0.25]])


@tf.function
def train_step(real, noise):
    with tf.GradientTape() as generator_tape, tf.GradientTape() as critic_tape:
        fake = noise @ generator
        real_logits, fake_logits = real @ critic, fake @ critic
        generator_loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(tf.ones_like(fake_logits), fake_logits))
        critic_loss = tf.reduce_mean(
            tf.nn.sigmoid_cross_entropy_with_logits(tf.ones_like(real_logits), real_logits)
        ) + tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(tf.zeros_like(fake_logits), fake_logits))
    generator.assign_sub(0.1 * generator_tape.gradient(generator_loss, generator))
    critic.assign_sub(0.1 * critic_tape.gradient(critic_loss, critic))
    return generator_loss, critic_loss


for _ in range(3):
    tf.print(*train_step(tf.constant([[1.0, 2.0], [0.5, 0.5]]), tf.constant([[1.0], [-0.5]])))
print(generator.numpy(), critic.numpy(), train_step.experimental_get_tracing_count())

# %% An adversarial example: the sign of the gradient
image = tf.constant([[0.2, 0.8], [0.4, 0.6]])
with tf.GradientTape() as tape:
    tape.watch(image)
    loss = tf.keras.losses.CategoricalCrossentropy(from_logits=True)(tf.constant([[0.0, 1.0]]), image[:1] @ image)
perturbation = tf.sign(tape.gradient(loss, image))
print(perturbation)
print(tf.clip_by_value(image + 0.01 * perturbation, -1, 1))


# %% Styles: the products of channels over all pixels, and the total variation
features = tf.reshape(tf.range(24.0) / 10, [1, 3, 4, 2])
pixels = tf.reshape(features, [-1, 2])
print(tf.matmul(pixels, pixels, transpose_a=True) / len(pixels))
print(tf.image.total_variation(features))


# %% Dreams: an image climbs the activation of a filter, moved by one place more in each turn
class Dream(tf.Module):
    def __init__(self, weights):
        self.weights = weights

    @tf.function(input_signature=(tf.TensorSpec([None, None]), tf.TensorSpec([], tf.int32)))
    def climb(self, picture, turns):
        height = tf.constant(0.0)
        for turn in tf.range(turns):
            with tf.GradientTape() as tape:
                tape.watch(picture)
                moved = tf.roll(picture, [turn, -turn], [0, 1])
                height = tf.reduce_mean(tf.nn.conv2d(moved[None, ..., None], self.weights, 1, "SAME"))
            slope = tape.gradient(height, picture)
            picture = tf.clip_by_value(picture + slope / tf.math.reduce_std(slope) / 50, 0, 1)
        return height, picture


dream = Dream(tf.reshape([1.0, 0.0, -1.0, 0.5, 2.0, 0.0, 0.0, 1.0, 0.25], [3, 3, 1, 1]))
print(*dream.climb(tf.reshape(tf.range(12.0) / 12, [3, 4]), tf.constant(4)), sep="\n")


# %% Policies: an episode that ends itself, its discounted returns, and a loss of both
@tf.function
def play(state, limit):
    chances = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    gains = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for turn in tf.range(limit):
        move = state % 7 + turn
        chances = chances.write(turn, tf.sigmoid(tf.cast(move, tf.float32) / 4))
        state = 2 * move
        gains = gains.write(turn, tf.cast(move % 3, tf.float32))
        if move > 4:
            break
    return chances.stack(), gains.stack()


@tf.function
def discounted(gains, factor):
    return tf.scan(lambda later, gain: gain + factor * later, gains, reverse=True)


chances, gains = play(tf.constant(1), tf.constant(10))
returns = discounted(gains, 0.99)
huber = tf.keras.losses.Huber(reduction="sum")
print(chances, gains, returns, huber(chances[:, None], returns[:, None]), sep="\n")

# %% Spectra of waves, by windows whose sizes are known at run time
wave = tf.sin(tf.range(64.0) / 5)
spectrum = tf.abs(tf.signal.stft(wave, frame_length=16, frame_step=8))
print(spectrum.shape, spectrum[0, :4])


@tf.function
def energies(wave, length, step):
    return tf.reduce_sum(tf.signal.frame(wave, length, step) ** 2, axis=-1)


print(energies(wave, tf.constant(16), tf.constant(8)))
print(energies(wave, tf.constant(32), tf.constant(16)))


# %% Errors of shapes while tracing, and counts that cannot be
@tf.function
def cumulative(x):
    return tf.cumsum(x, axis=3)


for call in (lambda: cumulative(wave), lambda: tf.math.bincount([1, -2]), lambda: tf.range(5, 2)):
    try:
        call()
    except tf.errors.InvalidArgumentError:
        print("refused")
