# SPDX-License-Identifier: Apache-2.0
"""Two runs of the benchmarks side by side: ratios of times with the bounds that the noise allows, as Markdown."""
import math

import results

# One repetition says nothing of its noise: so much is taken for it. And below the last, a difference does not matter.
UNKNOWN_NOISE = 0.10
TOO_SMALL = 0.02


class Pair:
    """One benchmark in both runs; `low` and `high` bound new / old, the extremes of the repetitions set against each
    other."""

    def __init__(self, old, new):
        self.name = old.name
        self.old, self.new = old.time, new.time
        self.ratio = new.time / old.time
        old_low, old_high = bounds_of(old)
        new_low, new_high = bounds_of(new)
        self.low, self.high = new_low / old_high, new_high / old_low

    @property
    def verdict(self):
        if self.high < 1 and self.ratio < 1 - TOO_SMALL:
            return 'faster'
        if self.low > 1 and self.ratio > 1 + TOO_SMALL:
            return 'slower'
        return 'same'


def bounds_of(row):
    if len(row.times) > 1:
        return min(row.times), max(row.times)
    return row.time * (1 - UNKNOWN_NOISE / 2), row.time * (1 + UNKNOWN_NOISE / 2)


def pairs_of(old_rows, new_rows):
    """The pairs of what is in both, and the names that are in one only."""
    old, new = {r.name: r for r in old_rows}, {r.name: r for r in new_rows}
    pairs = [Pair(old[name], new[name]) for name in old if name in new]
    return pairs, [n for n in old if n not in new], [n for n in new if n not in old]


def time_text(ns):
    for unit, size in (('s', 1e9), ('ms', 1e6), ('us', 1e3)):
        if ns >= size:
            return f'{ns / size:.3g} {unit}'
    return f'{ns:.3g} ns'


def report(old_found, new_found):
    """(Markdown, pairs)."""
    old_rows, new_rows = results.rows_of(old_found), results.rows_of(new_found)
    pairs, gone, added = pairs_of(old_rows, new_rows)
    lines = ['# Benchmarks, new against old', '']
    for label, key in (('CPU', 'cpu_model'), ('compiler', 'compiler')):
        was, now = old_found.get('context', {}).get(key), new_found.get('context', {}).get(key)
        if was != now:
            lines += [f'**Not the same {label}**: {was} then, {now} now.', '']
    repeated = min([len(r.times) for r in old_rows + new_rows], default=0)
    if repeated > 1:
        lines += [f'Bounds: the slowest of at least {repeated} repetitions of one run by the fastest of the other.']
    else:
        lines += [f'Some ran once: {UNKNOWN_NOISE:.0%} are taken for their noise. `--benchmark_repetitions=5` '
                  'measures it.']
    counts = {v: sum(p.verdict == v for p in pairs) for v in ('faster', 'slower', 'same')}
    lines += ['', f'{len(pairs)} compared: {counts["faster"]} faster, {counts["slower"]} slower, '
                  f'{counts["same"]} the same.']
    if pairs:
        mean = math.exp(sum(math.log(p.ratio) for p in pairs) / len(pairs))
        lines += [f'Geometric mean of new / old: {mean:.3f}.']
    changed = sorted((p for p in pairs if p.verdict != 'same'), key=lambda p: -p.ratio)
    if changed:
        lines += ['', '| benchmark | old | new | new / old | bounds | |', '| --- | ---: | ---: | ---: | --- | --- |']
        lines += [f'| {p.name} | {time_text(p.old)} | {time_text(p.new)} | {p.ratio:.3f} | {p.low:.3f} to {p.high:.3f} '
                  f'| {p.verdict} |' for p in changed]
    for title, names in (('Only in the old run', gone), ('Only in the new run', added)):
        if names:
            lines += ['', f'{title}: {len(names)}', ''] + [f'- {name}' for name in names[:20]]
            lines += [f'- and {len(names) - 20} more'] if len(names) > 20 else []
    return '\n'.join(lines) + '\n', pairs


def run(old_path, new_path, fail_above):
    """Prints the comparison; 1 when something is surely slower by more than `fail_above` times, else 0."""
    text, pairs = report(results.load(old_path), results.load(new_path))
    print(text, end='')
    if fail_above is None:
        return 0
    worse = [p for p in pairs if p.verdict == 'slower' and p.ratio > fail_above]
    print(f'\n{len(worse)} slower by more than {fail_above:g}.')
    return 1 if worse else 0
