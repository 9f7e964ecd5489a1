#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fit.py [NAME...]: the coefficients of kernels/special/constants-inl.h.

Each polynomial interpolates a smooth function at Chebyshev nodes, in 60 digits. Its variable runs from -1 to 1. The
script prints the coefficients, lowest power first, and the largest relative error before rounding. It wants mpmath.
"""
import sys

import mpmath as mp

mp.mp.dps = 60
X0_DIGAMMA = mp.findroot(mp.digamma, mp.mpf('1.4616321449683623'))
X0_EXPI = mp.findroot(mp.ei, mp.mpf('0.37250741078136663'))


def lgamma_near(v):
    """lgamma(2 + v) / (v (v + 1)), smooth at both zeros."""
    return mp.log(mp.gamma(2 + v)) / (v * (v + 1))


def lgamma_far(v):
    """The rest of Stirling's formula times x, in (3 / x)^2 = (v + 1) / 2."""
    x = 3 / mp.sqrt((v + 1) / 2)
    return x * (mp.log(mp.gamma(x)) - (x - 0.5) * (mp.log(x) - 1) - (mp.log(2 * mp.pi) - 1) / 2)


def digamma_near(v):
    return mp.digamma(2 + v) / (2 + v - X0_DIGAMMA)


def digamma_far(v):
    x = 3 / mp.sqrt((v + 1) / 2)
    return x * x * (mp.log(x) - 1 / (2 * x) - mp.digamma(x))


def erfinv_centre(v):
    """erfinv(x) / x in w = -log(1 - x^2) from 0 to 6.25."""
    x = mp.sqrt(-mp.expm1(-(v + 1) * 3.125))
    return mp.erfinv(x) / x


def complement(w):
    """erfinv(x) where 1 - x^2 = e^-w."""
    x = mp.sqrt(-mp.expm1(-w))
    y = mp.sqrt(w)
    for _ in range(12):  # Newton's steps on erfc, whose argument keeps its digits
        rest = mp.exp(-w) / (1 + x)
        y += (mp.erfc(y) - rest) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
    return y


def erfinv_tail(v):
    """erfinv(x) / sqrt(w) in sqrt(w) from 2.5 to 6.1."""
    root = mp.mpf('4.3') + mp.mpf('1.8') * v
    return complement(root * root) / root


def bessel_i_near(n):
    return lambda v: mp.besseli(n, 4 * mp.sqrt(2 * (v + 1))) / (4 * mp.sqrt(2 * (v + 1)))**n


def bessel_i_far(n):
    def f(v):
        x = 16 / (v + 1)
        return mp.besseli(n, x) * mp.exp(-x) * mp.sqrt(x)
    return f


# Up to here the Bessel functions J0 and J1 take a polynomial with their first two positive zeros, then Hankel's form.
J_LIMIT = {0: mp.mpf('6.5'), 1: mp.mpf('7.5')}


def bessel_j_near(n):
    first, second = (mp.besseljzero(n, k) for k in (1, 2))

    def f(v):
        square = J_LIMIT[n]**2 / 2 * (v + 1)
        x = mp.sqrt(square)
        return mp.besselj(n, x) / x**n / ((square - first**2) * (square - second**2))
    return f


def hankel(n, v):
    x = J_LIMIT[n] / mp.sqrt((v + 1) / 2)
    turn = mp.exp(-1j * (x - mp.pi / 4 - n * mp.pi / 2))
    return x, (mp.besselj(n, x) + 1j * mp.bessely(n, x)) * mp.sqrt(mp.pi * x / 2) * turn


def bessel_p(n):
    return lambda v: mp.re(hankel(n, v)[1])


def bessel_q(n):
    def f(v):
        x, h = hankel(n, v)
        return mp.im(h) * x
    return f


def expi_near(v):
    """(Ei(x) - log(x / x0)) / (x - x0) for x from 0 to 6."""
    x = 3 * (v + 1)
    return (mp.ei(x) - mp.log(x / X0_EXPI)) / (x - X0_EXPI)


def expi_over(low, high):
    """x e^-x Ei(x) in 1 / x from 1 / high to 1 / low."""
    a, b = (1 / mp.mpf(high) if high else mp.mpf(0)), 1 / mp.mpf(low)

    def f(v):
        x = 1 / (a + (b - a) * (v + 1) / 2)
        return x * mp.exp(-x) * mp.ei(x)
    return f


def e1_near(v):
    """(E1(z) + log z + gamma) / z for z from 0 to 1."""
    z = (v + 1) / 2
    return (mp.e1(z) + mp.log(z) + mp.euler) / z


def e1_far(v):
    """z e^z E1(z) for z >= 1 in v = 1 - 6 / (z + 2)."""
    z = 6 / (1 - v) - 2
    return z * mp.exp(z) * mp.e1(z)


# Function, number of coefficients, and whether the variable is (v + 1) / 2: then all coefficients have one sign, or the
# first ones decide.
FITS = {
    'lgamma_near': (lgamma_near, 30, False), 'lgamma_far': (lgamma_far, 15, False),
    'digamma_near': (digamma_near, 31, False), 'digamma_far': (digamma_far, 16, False),
    'erfinv_centre': (erfinv_centre, 27, False), 'erfinv_tail': (erfinv_tail, 29, False),
    'i0_near': (bessel_i_near(0), 18, True), 'i0_far': (bessel_i_far(0), 26, False),
    'i1_near': (bessel_i_near(1), 17, True), 'i1_far': (bessel_i_far(1), 26, False),
    'j0_near': (bessel_j_near(0), 14, False), 'j0_p': (bessel_p(0), 17, False), 'j0_q': (bessel_q(0), 19, False),
    'j1_near': (bessel_j_near(1), 15, False), 'j1_p': (bessel_p(1), 15, False), 'j1_q': (bessel_q(1), 17, False),
    'expi_near': (expi_near, 22, True), 'expi_middle': (expi_over(6, 14), 24, False),
    'expi_far': (expi_over(14, 0), 36, False), 'e1_near': (e1_near, 13, True), 'e1_far': (e1_far, 35, False),
}


def interpolated(f, count):
    """The monomial coefficients of the polynomial through `count` Chebyshev nodes."""
    angles = [mp.pi * (2 * k + 1) / (2 * count) for k in range(count)]
    values = [f(mp.cos(a)) for a in angles]
    chebyshev = [sum(y * mp.cos(j * a) for y, a in zip(values, angles)) * 2 / count for j in range(count)]
    chebyshev[0] /= 2
    before, now = [mp.mpf(1)], [mp.mpf(0), mp.mpf(1)]  # T_0 and T_1
    total = [chebyshev[0]] + [mp.mpf(0)] * (count - 1)
    for c in chebyshev[1:]:
        for i, t in enumerate(now):
            total[i] += c * t
        following = [mp.mpf(0)] + [2 * t for t in now]
        for i, t in enumerate(before):
            following[i] -= t
        before, now = now, following
    return total


def main():
    for name in sys.argv[1:] or FITS:
        f, count, from_zero = FITS[name]
        c = interpolated(f, count)
        worst = 0
        for k in range(160):
            v = mp.cos(mp.pi * (k + 0.37) / 160)
            exact = f(v)
            worst = max(worst, abs(mp.polyval(c[::-1], v) / exact - 1))
        if from_zero:
            c = [sum(c[k] * mp.binomial(k, i) * 2**i * (-1)**(k - i) for k in range(i, count)) for i in range(count)]
        print(f'// Error 2^{float(mp.log(worst, 2)):.1f}, magnitudes {float(sum(abs(x) for x in c)):.3g}.')
        print(f'inline constexpr double {name}[] = {{' + ', '.join(repr(float(x)) for x in c) + '};', flush=True)


if __name__ == '__main__':
    main()
