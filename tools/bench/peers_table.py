# SPDX-License-Identifier: Apache-2.0
"""From times to the table of docs/performance-targets.md: comparators, ratios, verdicts, Markdown."""
import pathlib
import re
import statistics
import tomllib

OURS = 'kerngrad'
BEGIN, END = '<!-- begin: written by tools/bench/peers.py --docs -->', '<!-- end of peers -->'


def split_name(name):
    """`exp@fused` as (case, way)."""
    case, _, way = name.partition('@')
    return case, way


def labels(row):
    """(name, size, label) of each line of a row; the label is what --filter looks at."""
    return [(name, size, f'{row["id"]}/{name}/n:{size}')
            for name in row['case'].split() for size in row['sizes'].split()]


def against(row, name):
    """(side, case) of all with which a row's case is compared."""
    return [(side, case or split_name(name)[0])
            for side, _, case in (word.partition('/') for word in row.get('against', '').split())]


def recorded():
    """Times of peers that are not run here, by (side, case, size), as they were recorded on one machine."""
    sides = tomllib.loads((pathlib.Path(__file__).parent / 'recorded.toml').read_text())
    return {(side, case, size): time for side, cases in sides.items() for case, sizes in cases.items()
            for size, time in sizes.items()}


def spread(values):
    """Half of the distance between the quartiles, as a part of the median."""
    if len(values) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4)
    return (high - low) / 2 / middle


def pair_key(side, against, case, size, other):
    """Under which the pairs of a comparison are kept: the case of the other side is named when it is another."""
    return (side, against, case, size) + ((other,) if other != case else ())


def runs_here(side):
    """True if the CPU has the feature that a side needs, such as avx512f."""
    flags = re.search(r'^flags\s*:(.*)', pathlib.Path('/proc/cpuinfo').read_text(), re.MULTILINE)
    return 'needs' not in side or (flags is not None and side['needs'] in flags[1].split())


def is_peer(side, table):
    name = side.partition(':')[0]
    return name in table['sides'] and not table['sides'][name].get('bound')


def comparator_of(row, name, size, table, medians):
    """The fastest (side, case) that a row's case is compared with, or None when none was measured."""
    choice = against(row, name)
    if choice and choice[0][0] == 'best':
        choice = [(side, case) for side, case, _ in medians if ':' not in side and is_peer(side, table)]
        choice = [(side, case) for side, case in choice if case == split_name(name)[0]]
    there = [pair for pair in choice if (*pair, size) in medians]
    return min(there, key=lambda pair: medians[*pair, size]) if there else None


def cases(table, times, pairs, pattern=''):
    """One entry for each line of the table, with what was measured of it and no more. With a comparator, our time and
    its time are those of the neighbouring runs from which the ratio is."""
    medians = {key: statistics.median(values) for key, values in times.items()}
    wasm = recorded()
    entries = []
    for row in table['row']:
        for name, size, label in labels(row):
            if not re.search(pattern, label):
                continue
            case, way = split_name(name)
            side = f'{OURS}:{way}' if way else OURS
            ours = times.get((side, case, size))
            entry = {'id': row['id'], 'name': name, 'size': size, 'unit': 'ns',
                     'ours': statistics.median(ours) if ours else None,
                     'ours_spread': round(spread(ours), 4) if ours else None,
                     'peers': {peer: time for (peer, c, n), time in sorted(medians.items())
                               if (c, n) == (case, size) and is_peer(peer, table)},
                     'must': row['must'], 'stretch': row['stretch']}
            if ('tfjs-wasm', name, size) in wasm:
                entry['recorded'] = {'tfjs-wasm': wasm['tfjs-wasm', name, size]}
            if name in table['note']:
                entry['note'] = table['note'][name]
            chosen = comparator_of(row, name, size, table, medians)
            if ours and chosen:
                both = pairs[pair_key(side, chosen[0], case, size, chosen[1])]
                mine, theirs = [pair[0] for pair in both], [pair[1] for pair in both]
                entry |= {'ours': statistics.median(mine), 'ours_spread': round(spread(mine), 4),
                          'comparator': ' '.join(chosen if chosen[1] != case else chosen[:1]),
                          'comparator_time': statistics.median(theirs),
                          'ratio': round(statistics.median(a / b for a, b in both), 4)}
            entries.append({key: value for key, value in entry.items() if value is not None})
    return entries


def verdict(entry):
    if entry.get('ratio') is None:
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


def is_slower(entry):
    """Than a time that was recorded elsewhere."""
    return 'recorded' in entry and entry.get('ours', 0) > min(entry['recorded'].values())


def line_of(entry, table):
    ratio = '' if entry.get('ratio') is None else f'{entry["ratio"]:.3g}'
    name = f'`{entry["name"]}` {table["what"].get(entry["name"], "")}'.strip()
    wasm = time_text(entry.get('recorded', {}).get('tfjs-wasm'))
    cells = [entry['id'], name, entry['size'], time_text(entry.get('ours')), entry.get('comparator', ''),
             time_text(entry.get('comparator_time')), ratio, f'{entry["must"]:g}', f'{entry["stretch"]:g}',
             verdict(entry), f'**{wasm}**' if is_slower(entry) else wasm]
    return '| ' + ' | '.join(cells) + ' |'


def markdown(table, result):
    """The table, a line that counts, and what it was measured on."""
    lines = ['| # | case | size | ours | comparator | its time | ratio | must | stretch | verdict | tfjs-wasm |',
             '| --- | --- | --- | ---: | --- | ---: | ---: | ---: | ---: | --- | ---: |',
             *(line_of(entry, table) for entry in result['cases'] if entry.get('ratio') is not None)]
    missing = [f'{entry["id"]} `{entry["name"]}` {entry["size"]}' + (f' ({entry["note"]})' if 'note' in entry else '')
               for entry in result['cases'] if entry.get('ratio') is None]
    if missing:
        lines += ['', f'Rows without a recorded run: {", ".join(missing)}.']
    verdicts = [verdict(entry) for entry in result['cases'] if entry.get('ratio') is not None]
    met = sum(text != '**not met**' for text in verdicts)
    slower = sum(is_slower(entry) for entry in result['cases'])
    lines += ['', f'{met} of {len(verdicts)} measured lines met, {verdicts.count("stretch")} of them at the stretch; '
                  f'{slower} slower than tfjs-wasm was, whose time is then in bold.']
    machine = result['machine']
    if machine.get('cpu'):
        packages = ', '.join(f'{name} {version}' for name, version in sorted(machine.get('packages', {}).items()))
        rounds = f', {result["rounds"]} rounds' if 'rounds' in result else ''
        lines += ['', f'Measured on {machine["cpu"]}, {machine["cores"]} cores{rounds}; {packages}.']
    return '\n'.join(lines)


def replace_between(path, begin, end, text):
    """Puts `text` between two markers of a page."""
    page = path.read_text()
    before, found, rest = page.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found or not found_end:
        raise SystemExit(f'{path}: the markers {begin} and {end} are missing')
    path.write_text(f'{before}{begin}\n\n{text}\n\n{end}{after}')


def write_docs(path, table, result):
    replace_between(path, BEGIN, END, markdown(table, result))
