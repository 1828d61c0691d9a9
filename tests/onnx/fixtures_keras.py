"""Keras models, exported by tf2onnx. Used by make_fixtures.py."""

import os

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import keras
import numpy as np
import tensorflow as tf
import tf2onnx

from fixtures import COLUMNS, N, K, ROWS, TRIANGLE


def dense_stack(x, widths, activations):
    """Dense layers with random biases, which would otherwise be zero and left out."""
    for width, activation in zip(widths, activations):
        x = keras.layers.Dense(width, bias_initializer=keras.initializers.RandomNormal(stddev=0.3))(x)
        if activation is not None:
            x = activation(x)
    return x


def export_keras(model, path):
    shape = (None, *model.input.shape[1:])
    signature = [tf.TensorSpec(shape, tf.float32, name="M")]
    function = tf.function(lambda m: model(m, training=False), input_signature=signature)
    tf2onnx.convert.from_function(function, input_signature=signature, opset=17, output_path=path)


def keras_paper(path):
    """The paper's shape: M, its lower triangle by a mask, Dense with ReLU, U, then (S, L)."""
    m = keras.Input((N, N), name="M")
    mask = np.tril(np.ones((N, N), bool))
    x = keras.layers.Lambda(lambda m: tf.boolean_mask(m, mask, axis=1), output_shape=(TRIANGLE,))(m)
    relu = keras.layers.ReLU
    x = dense_stack(x, [40, 8, 8, 8, N * K], [relu(), relu(), relu(), relu(), None])
    u = keras.layers.Reshape((N, K))(x)
    low = keras.layers.Lambda(lambda u: tf.matmul(u, u, transpose_b=True), output_shape=(N, N))(u)
    sparse = keras.layers.Subtract()([m, low])
    export_keras(keras.Model(m, [sparse, low]), path)
    return ["S", "L"]


def keras_gather_nd(path):
    """The lower triangle by gather_nd; (L, S)."""
    m = keras.Input((N, N), name="M")
    places = np.stack([ROWS, COLUMNS], axis=1)

    def triangle(m):
        return tf.transpose(tf.gather_nd(tf.transpose(m, [1, 2, 0]), places))

    x = keras.layers.Lambda(triangle, output_shape=(TRIANGLE,))(m)
    x = dense_stack(x, [12, N * K], [keras.layers.ReLU(), None])
    u = keras.layers.Reshape((N, K))(x)
    low = keras.layers.Lambda(lambda u: tf.matmul(u, u, transpose_b=True), output_shape=(N, N))(u)
    sparse = keras.layers.Subtract()([m, low])
    export_keras(keras.Model(m, [low, sparse]), path)
    return ["L", "S"]


def keras_flat(path):
    """All n*n values in one vector, every activation, a normalisation; U."""
    m = keras.Input((N * N,), name="M")
    x = dense_stack(m, [12], [keras.layers.ELU(0.7)])
    x = keras.layers.BatchNormalization(
        moving_mean_initializer=keras.initializers.RandomNormal(stddev=0.2),
        moving_variance_initializer=keras.initializers.RandomUniform(0.5, 1.5),
    )(x)
    activation = keras.layers.Activation
    x = dense_stack(
        x,
        [10, 9, 8, N * K],
        [keras.layers.LeakyReLU(negative_slope=0.2), activation("tanh"), activation("sigmoid"), None],
    )
    export_keras(keras.Model(m, keras.layers.Reshape((N, K))(x)), path)
    return ["U"]


def seed(number):
    keras.utils.set_random_seed(number)


MODELS = {
    "keras_paper": keras_paper,
    "keras_gather_nd": keras_gather_nd,
    "keras_flat": keras_flat,
}
