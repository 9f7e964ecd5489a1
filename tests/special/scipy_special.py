#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scipy_special.py [--check HEADER]: scipy_special.h, SciPy's results for special_functions.cc; or whether SciPy still
gives what HEADER has."""
import pathlib
import sys

import numpy as np
import scipy
import scipy.special as s

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'support'))
import recorded_results

NAMES = {'s': s, 'np': np, 'x': np.array([0.05, 0.4, 0.75, 1, 1.5, 2, 3.25, 7, 12, 40]),
         'y': np.array([-12, -3.5, -0.25, 0.3, 2.5, 6, 9, 20]), 'u': np.array([0.01, 0.2, 0.45, 0.5, 0.7, 0.95, 0.999]),
         'a': np.array([0.2, 0.9, 1, 2.5, 4, 10, 60]), 'b': np.array([0.3, 2, 5, 2.2, 11, 3, 50])}
EXPRESSIONS = ['s.gammaln(x)', 's.gammaln(y - 0.1)', 's.digamma(x)', 's.digamma(y - 0.1)',
               *[f's.polygamma({n}, x)' for n in (1, 2, 5)], 's.erfinv(2 * u - 1)', 's.i0(y)', 's.i1(y)', 's.j0(y)',
               's.j1(y)', 's.expi(y)', 's.logit(u)', 's.beta(a, b)', 's.gammainc(a, b)', 's.gammaincc(a, b)',
               's.betainc(a, b, u)']


def values(expression):
    """Results of SciPy, as one list."""
    return [float(v) for v in np.ravel(eval(expression, dict(NAMES)))]


if __name__ == '__main__':
    sys.exit(recorded_results.main('scipy_special',
                                   [f'SciPy {scipy.__version__}: results of expressions for x, y, u, a and b of '
                                    'scipy_special.py, which writes this.'],
                                   {expression: values(expression) for expression in EXPRESSIONS},
                                   digits=16, rtol=1e-10, atol=1e-13))
