# SPDX-License-Identifier: Apache-2.0
"""The report of a run: index.html, one page that needs nothing else, and report.md, the same figures as tables."""
import json
import pathlib

import compare
import results

HERE = pathlib.Path(__file__).resolve().parent


def in_order(values):
    """Each value once, in the order of its first appearance."""
    return list(dict.fromkeys(values))


def page_data(found):
    """Data of the page's script."""
    all_rows = results.rows_of(found)
    rows = [r for r in all_rows if r.floor]
    targets = in_order(r.target for r in rows)
    kernels = {}
    for row in rows:
        label = row.op + (f' {row.variant}' if row.variant else '')
        kernels.setdefault(row.kernel, {'name': row.kernel, 'label': label, 'dtype': row.dtype, 'family': row.family})
    place = {name: i for i, name in enumerate(kernels)}
    context = found.get('context', {})
    figures = [[place[r.kernel], targets.index(r.target), r.n, number(r.time), number(r.roof), r.limit, number(r.items),
                number(r.bytes), number(r.operations), number(r.spread)] for r in rows]
    others = [r for r in all_rows if not r.floor]
    best = {r.op: r.target for r in reversed(others)}  # the first target of each program is the best one
    return {
        'summary': f'{len(kernels)} kernels on {len(targets)} CPU targets of '
                   f'{context.get("cpu_model", "this machine")}, {context.get("date", "")[:10]}; times are of one '
                   'thread and of the processor, not of the clock on the wall',
        'noise': results.repetitions_text(all_rows), 'scatters': results.SCATTERS,
        'facts': results.machine_of(context), 'roofs': results.roofs_of(context), 'targets': targets,
        'families': in_order(r.family for r in rows), 'kernels': list(kernels.values()), 'rows': figures,
        'others': [[r.op, r.variant, r.target, r.n, number(r.time), number(r.spread)] for r in others
                   if r.target == best[r.op]],
        'peers': found.get('peers'),
    }


def number(value):
    """Four digits are more than the measurement has."""
    return None if value is None else float(f'{value:.4g}')


def html_of(found):
    page = (HERE / 'page.html').read_text(encoding='utf-8')
    # In a script element only "</" would end the data early.
    data = json.dumps(page_data(found), separators=(',', ':')).replace('</', '<\\/')
    for place, text in (('/*STYLE*/', (HERE / 'page.css').read_text(encoding='utf-8')), ('/*DATA*/', data),
                        ('/*SCRIPT*/', (HERE / 'page.js').read_text(encoding='utf-8'))):
        page = page.replace(place, text)
    return page


def time_of(row):
    return ('~' if row.scatters else '') + compare.time_text(row.time)


def table(head, lines):
    return ['| ' + ' | '.join(head) + ' |', '| --- ' + '| ---: ' * (len(head) - 1) + '|',
            *('| ' + ' | '.join(line) + ' |' for line in lines), '']


def roof_tables(context):
    roofs = results.roofs_of(context)
    if not roofs:
        return []
    keys = in_order(key for of_target in roofs.values() for key in of_target)
    unit = {'fma': 'GFLOP/s', 'divide': 'G/s', 'root': 'G/s'}
    return ['## Roofs', '', *table(['', *roofs], [
        [f'{key.replace("/", " ")}, {unit.get(key.split("/")[0], "GB/s")}',
         *(f'{of[key] / 1e9:.4g}' for of in roofs.values())]
        for key in keys])]


def kernel_tables(rows):
    lines = []
    cells = {(r.kernel, r.n, r.target): f'{time_of(r)}, {r.roof:.0%} {r.limit}' for r in rows}
    targets = in_order(r.target for r in rows)
    for family in in_order(r.family for r in rows):
        of_family = in_order((r.kernel, r.n) for r in rows if r.family == family)
        lines += [f'## {family}', '', 'Time, part of the roof, and what the roof is made of.', '']
        lines += table(['kernel', 'n', *targets],
                       [[kernel, str(n), *(cells.get((kernel, n, t), '') for t in targets)] for kernel, n in of_family])
    return lines


def peer_table(peers):
    cases = (peers or {}).get('cases', [])
    if not cases:
        return []
    names = in_order(name for case in cases for name in case.get('peers', {}))

    def text(case, value):
        if value is None:
            return ''
        return compare.time_text(value) if case.get('unit', 'ns') == 'ns' else f'{value:.4g} {case["unit"]}'

    return ['## Beside other libraries', '', *table(
        ['case', 'kerngrad', *names, 'ours / comparator', 'at most'],
        [[' '.join(str(case[k]) for k in ('id', 'name', 'size') if k in case), text(case, case.get('ours')),
          *(text(case, case.get('peers', {}).get(name)) for name in names),
          f'{case["ratio"]:.2f} {case.get("comparator", "")}' if 'ratio' in case else '', str(case.get('must', ''))]
         for case in cases])]


def markdown_of(found):
    context, rows = found.get('context', {}), results.rows_of(found)
    lines = ['# kerngrad benchmarks', '', *table(['', ''], [list(fact) for fact in results.machine_of(context)])]
    lines += [results.repetitions_text(rows), ''] if rows else []
    lines += roof_tables(context) + peer_table(found.get('peers')) + kernel_tables([r for r in rows if r.floor])
    others = [r for r in rows if not r.floor]
    if others:
        lines += ['## Reaching a kernel, watching it', '',
                  *table(['benchmark', 'time'], [[r.name, time_of(r)] for r in others])]
    return '\n'.join(lines)


def write(found, folder):
    """Writes both files into the folder and returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    page, text = folder / 'index.html', folder / 'report.md'
    page.write_text(html_of(found), encoding='utf-8')
    text.write_text(markdown_of(found), encoding='utf-8')
    return [page, text]
