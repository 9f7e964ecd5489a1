#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scipy_special.py [--check HEADER]: scipy_special.h, SciPy's results for special_functions.cc; or whether SciPy still
gives what HEADER has."""
import re
import sys

import numpy as np
import scipy.special as s

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


def header():
    lines = ['// SPDX-License-Identifier: Apache-2.0', f'// SciPy {__import__("scipy").__version__}: results of'
             ' expressions for x, y, u, a and b of scipy_special.py, which writes this.', '#pragma once',
             '#include <map>', '#include <string>', '#include <vector>', '', 'namespace kgtest {', '',
             '// clang-format off',
             'inline const std::map<std::string, std::vector<double>> scipy_special = {']
    for expression in EXPRESSIONS:
        row = [f'{v:.16g}' for v in values(expression)]
        text = '    {"' + expression + '", {'
        for i, number in enumerate(row):
            piece = number + (', ' if i + 1 < len(row) else '}},')
            if len(text) + len(piece.rstrip()) > 118:
                lines.append(text.rstrip())
                text = '      '
            text += piece
        lines.append(text)
    return '\n'.join([*lines, '};', '', '}  // namespace kgtest', ''])


def main():
    if sys.argv[1:2] != ['--check']:
        print(header(), end='')
        return 0
    text = open(sys.argv[2], encoding='utf-8').read()
    found = re.findall(r'\{"(.*?)", \{([^}]*)\}', text, re.DOTALL)
    wrong = [expression for expression, numbers in found
             if not np.allclose([float(v) for v in numbers.split(',')], values(expression), rtol=1e-10, atol=1e-13)]
    wrong += sorted(set(EXPRESSIONS) - {expression for expression, _ in found})
    print('\n'.join(f'SciPy gives something else: {expression}' for expression in wrong) or
          f'{len(found)} results agree')
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())
