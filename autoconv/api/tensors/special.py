"""Special functions, element by element: inverses of distribution functions, gamma, beta, zeta, Bessel functions."""

from __future__ import annotations

from autoconv.api.tensors.accepted_dtypes import check_dtype
from autoconv.graph.dtype_sets import SINGLE_OR_DOUBLE
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def erfinv(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of the error function; infinite at -1 and 1, nan outside of [-1, 1].

    >>> autoconv.math.erfinv([0.0, 0.5]).numpy().round(4)
    array([0.    , 0.4769], dtype=float32)
    """
    return apply("erfinv", x, name=name)


def ndtri(x: TensorLike, name: str | None = None) -> Tensor:
    """The quantile of the standard normal distribution at the probability x.

    >>> autoconv.math.ndtri([0.5, 0.975]).numpy().round(4)
    array([0.  , 1.96], dtype=float32)
    """
    return apply("ndtri", x, name=name)


def erfcinv(x: TensorLike, name: str | None = None) -> Tensor:
    """The number y with 1 - erf(y) = x.

    >>> autoconv.math.erfcinv([0.1, 0.5]).numpy().round(4)
    array([1.1631, 0.4769], dtype=float32)
    """
    return apply("multiply", apply("ndtri", apply("multiply", x, 0.5)), -(0.5**0.5), name=name)


def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """log |B(v)|, where B is the multivariate beta function, for each vector v along the last axis.

    >>> autoconv.math.lbeta([1.0, 2.0, 3.0]).numpy().round(4)
    np.float32(-4.0943)
    """
    sum_of_logs = apply("reduce_sum", apply("lgamma", x), axis=(-1,), keepdims=False)
    log_of_sum = apply("lgamma", apply("reduce_sum", x, axis=(-1,), keepdims=False))
    return apply("subtract", sum_of_logs, log_of_sum, name=name)


def igamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The lower regularised incomplete gamma function P(a, x).

    >>> autoconv.math.igamma([1.0, 2.0], [1.0, 1.0]).numpy().round(4)
    array([0.6321, 0.2642], dtype=float32)
    """
    return apply("igamma", a, x, name=name)


def igammac(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The upper regularised incomplete gamma function Q(a, x) = 1 - P(a, x).

    >>> autoconv.math.igammac([1.0, 2.0], [1.0, 1.0]).numpy().round(4)
    array([0.3679, 0.7358], dtype=float32)
    """
    return apply("igammac", a, x, name=name)


def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The regularised incomplete beta function, for x from 0 to 1; differentiable by x.

    >>> autoconv.math.betainc(2.0, 3.0, [0.25, 0.5]).numpy().round(4)
    array([0.2617, 0.6875], dtype=float32)
    """
    return apply("betainc", a, b, x, name=name)


def zeta(x: TensorLike, q: TensorLike, name: str | None = None) -> Tensor:
    """Hurwitz' zeta function, the sum of (q + k)^-x over all k from 0; differentiable by q.

    >>> autoconv.math.zeta(2.0, [1.0, 2.0]).numpy().round(4)
    array([1.6449, 0.6449], dtype=float32)
    """
    check_dtype("zeta", SINGLE_OR_DOUBLE, x, q)
    return apply("zeta", x, q, name=name)


def bessel_i0(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0.

    >>> autoconv.math.bessel_i0([0.0, 1.0]).numpy().round(4)
    array([1.    , 1.2661], dtype=float32)
    """
    return apply("bessel_i0", x, name=name)


def bessel_i0e(x: TensorLike, name: str | None = None) -> Tensor:
    """`bessel_i0` times exp(-|x|).

    >>> autoconv.math.bessel_i0e([0.0, 1.0]).numpy().round(4)
    array([1.    , 0.4658], dtype=float32)
    """
    return apply("bessel_i0e", x, name=name)


def bessel_i1(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1.

    >>> autoconv.math.bessel_i1([0.0, 1.0]).numpy().round(4)
    array([0.    , 0.5652], dtype=float32)
    """
    return apply("bessel_i1", x, name=name)


def bessel_i1e(x: TensorLike, name: str | None = None) -> Tensor:
    """`bessel_i1` times exp(-|x|).

    >>> autoconv.math.bessel_i1e([0.0, 1.0]).numpy().round(4)
    array([0.    , 0.2079], dtype=float32)
    """
    return apply("bessel_i1e", x, name=name)
