#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scipy_signals.py [--check HEADER]: scipy_signals.h, SciPy's results for tests/composed/filters.cc; or whether SciPy
still gives what HEADER has."""
import pathlib
import sys

import numpy as np
import scipy
import scipy.signal as s

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'support'))
import recorded_results

T = np.arange(24.)
NAMES = {'s': s, 'np': np, 'x': np.sin(0.1 * T * T) + 0.05 * T, 'b': [0.2, 0.3, 0.1], 'a': [2, -1, 0.5, 0.2],
         'sos': s.butter(3, [.2, .6], 'bandpass', output='sos'), 'zi': [0.5, -1, 0.25]}
WINDOWS = ['boxcar', 'triang', 'bartlett', 'parzen', 'bohman', 'barthann', 'cosine', 'lanczos', 'hann', 'hamming',
           'blackman', 'nuttall', 'blackmanharris', 'flattop', ('general_hamming', .75), ('kaiser', 8.6),
           ('gaussian', 1.5), ('general_gaussian', 1.5, 2), ('exponential', None, 3.0), ('tukey', .5), ('tukey', 0),
           ('tukey', 1), ('chebwin', 60), ('dpss', 1.5), 'taylor', ('taylor', 6, 45)]
BANDS = [('lowpass', .3), ('highpass', .3), ('bandpass', [.2, .6]), ('bandstop', [.2, .6])]
EXPRESSIONS = [
    's.lfilter(b, a, x)', 's.lfilter(b, a, x, zi=zi)[0]', 's.sosfilt(sos, x)',
    's.sosfilt(sos, x, zi=np.reshape(np.arange(6) * 0.1, (3, 2)))[0]',
    's.sosfilt(sos, x, zi=np.reshape(np.arange(6) * 0.1, (3, 2)))[1]', 's.lfilter(b, a, x, zi=zi)[1]',
    's.lfilter(b, a, x[:2], zi=zi)[1]', 's.lfilter(a, [2], x, zi=zi)[1]', 's.filtfilt(b, a, x)',
    's.filtfilt(b, a, x, padlen=2)', 's.sosfiltfilt(s.butter(3, .4, output="sos"), x)',
    's.sosfiltfilt(sos, x, padlen=5)', 's.resample(x[:9], 6)',
    *[f's.resample(x, {n})' for n in (15, 16, 30, 35)],
    *[f's.resample_poly(x, {up}, {down})' for up, down in ((3, 2), (2, 3), (4, 6), (1, 4), (5, 1))],
    *[f's.upfirdn(b, x, {up}, {down})' for up, down in ((1, 1), (3, 2), (2, 5), (4, 6))],
    *[f's.firwin(7, {cutoff}, pass_zero="{band}")' for band, cutoff in BANDS],
    's.firwin(4, .5)', 's.firwin(7, 100, fs=400, window=("kaiser", 5.), scale=False)',
    *[f's.butter({n}, {cutoff}, "{band}", output="sos")' for n in (1, 2, 3, 4) for band, cutoff in BANDS],
    's.welch(x, nperseg=8)[1]', 's.welch(x, window="boxcar")[1]',
    's.welch(x, 10, nperseg=9, noverlap=3, nfft=12, scaling="spectrum", detrend=False)[1]',
    *[f's.spectrogram(x, 2, nperseg=8)[{i}]' for i in range(3)],
    's.csd(x, x[::-1], nperseg=8)[1].real', 's.csd(x, x[::-1], nperseg=8)[1].imag',
    's.csd(x, x[::-1], 10, "boxcar", 9, 3, 12, False, scaling="spectrum")[1].imag',
    's.coherence(x, x[::-1], nperseg=6)[1]',
    *[f's.get_window({w!r}, {n})' for w in WINDOWS for n in ('6', '5, False')]]


def values(expression):
    """SciPy's result, as one list; rounding errors around 0 as 0."""
    got = np.ravel(eval(expression, dict(NAMES)))
    return [0.0 if abs(v) < 1e-15 else float(v) for v in got]


if __name__ == '__main__':
    sys.exit(recorded_results.main('scipy_signals',
                                   [f'SciPy {scipy.__version__}: results of expressions for x, b, a, sos and zi of '
                                    'scipy_signals.py, which writes this.'],
                                   {expression: values(expression) for expression in EXPRESSIONS},
                                   digits=15, rtol=1e-10, atol=1e-12))
