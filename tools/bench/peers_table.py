# SPDX-License-Identifier: Apache-2.0
"""From times to the table of docs/performance.md: which side a row is compared with, ratios, verdicts, Markdown."""
import pathlib
import re
import statistics

OURS = 'kerngrad'
BEGIN, END = '<!-- begin: written by tools/bench/peers.py --docs -->', '<!-- end -->'


def labels(row):
    """(case, size, label) of each line of a row; the label is what --filter looks at."""
    cases = row['case'] if isinstance(row['case'], list) else [row['case']]
    return [(case, size, f'{row["id"]}/{case}/n:{size}') for case in cases for size in row['sizes']]


def recorded():
    """Times of peers that cannot be run here, by (side, case, size), as recorded on one machine."""
    lines = (pathlib.Path(__file__).parent / 'recorded.tsv').read_text().splitlines()
    rows = [line.split('\t') for line in lines if line and not line.startswith('#')]
    return {(side, case, size): float(time) for side, case, size, time in rows}


def spread(values):
    """Half of the distance between the quartiles, as a part of the median."""
    if len(values) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4)
    return (high - low) / 2 / middle


def is_peer(side, table):
    name = side.partition(':')[0]
    return name in table['sides'] and not table['sides'][name].get('bound')


def comparator_of(row, case, size, table, medians):
    """The fastest side that the row is compared with, or None when none was measured."""
    other = row.get('other', case)
    there = {side: time for (side, name, n), time in medians.items() if (name, n) == (other, size)}
    against = row.get('against', [])
    if against == ['best']:
        against = [side for side in there if is_peer(side, table) and ':' not in side]
    chosen = [side for side in against if side in there]
    return min(chosen, key=there.get) if chosen else None


def cases(table, times, ratios, pattern=''):
    """One entry for each line of the table, with what was measured of it."""
    medians = {key: statistics.median(values) for key, values in times.items()}
    wasm = recorded()
    entries = []
    for row in table['row']:
        side = f'{OURS}:{row["way"]}' if 'way' in row else OURS
        for case, size, label in labels(row):
            if not re.search(pattern, label):
                continue
            ours = times.get((side, case, size))
            entry = {'id': row['id'], 'name': case + ('@' + row['way'] if 'way' in row else ''), 'size': size,
                     'unit': 'ns', 'ours': statistics.median(ours) if ours else None,
                     'ours_spread': round(spread(ours), 4) if ours else None,
                     'peers': {name: time for (name, c, n), time in sorted(medians.items())
                               if (c, n) == (case, size) and is_peer(name, table)},
                     'comparator': None, 'comparator_time': None, 'ratio': None,
                     'must': row['must'], 'stretch': row['stretch']}
            if 'way' not in row and ('tfjs-wasm', case, size) in wasm:
                entry['recorded'] = {'tfjs-wasm': wasm['tfjs-wasm', case, size]}
            if 'note' in row:
                entry['note'] = row['note']
            other = row.get('other', case)
            chosen = comparator_of(row, case, size, table, medians)
            if ours and chosen and 'note' not in row:
                key = (side, chosen, case, size) + ((other,) if other != case else ())
                entry['comparator'] = chosen + (f' {other}' if other != case else '')
                entry['comparator_time'] = medians[chosen, other, size]
                entry['ratio'] = round(statistics.median(ratios[key]), 4)
            entries.append(entry)
    return entries


def verdict(entry):
    if entry['ratio'] is None:
        return entry.get('note', 'not measured')
    if entry['ratio'] <= entry['stretch']:
        return 'stretch'
    return 'met' if entry['ratio'] <= entry['must'] else '**not met**'


def time_text(nanoseconds):
    if nanoseconds is None:
        return ''
    for unit, factor in (('s', 1e9), ('ms', 1e6), ('us', 1e3)):
        if nanoseconds >= factor:
            return f'{nanoseconds / factor:.3g} {unit}'
    return f'{nanoseconds:.3g} ns'


def markdown(table, result):
    """The table, and a line that counts."""
    what = {}
    for row in table['row']:
        for case, size, _ in labels(row):
            what[row['id'], case + ('@' + row['way'] if 'way' in row else ''), size] = row.get('what', case)
    lines = ['| # | case | size | ours | comparator | its time | ratio | must | stretch | verdict | tfjs-wasm, recorded |',
             '| --- | --- | --- | ---: | --- | ---: | ---: | ---: | ---: | --- | ---: |']
    for entry in result['cases']:
        ratio = '' if entry['ratio'] is None else f'{entry["ratio"]:.3g}'
        said = what.get((entry['id'], entry['name'], entry['size']), entry['name'])
        name = f'`{entry["name"]}`' + ('' if said == entry['name'] else f' {said}')
        wasm = entry.get('recorded', {}).get('tfjs-wasm')
        lines.append('| ' + ' | '.join([
            entry['id'], name, entry['size'], time_text(entry['ours']), entry['comparator'] or '',
            time_text(entry['comparator_time']), ratio, f'{entry["must"]:g}', f'{entry["stretch"]:g}', verdict(entry),
            time_text(wasm)]) + ' |')
    verdicts = [verdict(entry) for entry in result['cases'] if entry['ratio'] is not None]
    slower = sum(1 for entry in result['cases'] if entry['ours'] and
                 entry['ours'] > entry.get('recorded', {}).get('tfjs-wasm', float('inf')))
    met = sum(text != '**not met**' for text in verdicts)
    lines += ['', f'{met} of {len(verdicts)} measured lines met, {verdicts.count("stretch")} of them at the stretch; '
                  f'{slower} slower than tfjs-wasm was.']
    machine = result['machine']
    if machine.get('cpu'):
        packages = ', '.join(f'{name} {version}' for name, version in sorted(machine.get('packages', {}).items()))
        lines += ['', f'Measured on {machine["cpu"]}, {machine["cores"]} cores; {packages}.']
    return '\n'.join(lines)


def write_docs(path, table, result):
    text = path.read_text()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f'{path}: the markers {BEGIN} and {END} are missing')
    path.write_text(before + BEGIN + '\n\n' + markdown(table, result) + '\n\n' + END + after)
