#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""build.py KERNGRAD PROGRAMS INTO: the site, static pages in the folder INTO, of README.md, docs/ and the reference,
whose examples the folder PROGRAMS has the programs of.

The interpreter is Debian's, for which it has Sphinx, MyST and Furo. Sphinx gets a copy of the pages in which the README
is the first one and every other has its place in the navigation; whatever Sphinx warns of is an error.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / 'reference'))
import pages  # noqa: E402

# Entries of the navigation, in this order. Pages of docs/ that stand nowhere are guides.
SECTIONS = {'Learn': ['docs/tutorial/index', 'docs/cookbook/index', 'docs/gallery/index', 'docs/dictionary',
                      'docs/from-numpy', 'docs/from_tensorflow_js'],
            'Guides': ['docs/install', 'docs/modules', 'docs/indexing', 'docs/dtypes', 'docs/training',
                       'docs/linalg', 'docs/distributed',
                       'docs/custom-ops', 'docs/custom-reductions', 'docs/build-a-library',
                       'docs/benchmark-a-kernel', 'docs/backends'],
            'Reference': ['docs/reference/index', 'docs/ops', 'docs/accuracy'],
            'Project': ['docs/architecture', 'docs/platforms', 'docs/performance', 'docs/benchmarks',
                        'docs/performance-targets', 'docs/SECURITY', 'CONTRIBUTING', 'CHANGELOG']}


def toctree(names, caption=''):
    head = f':caption: {caption}\n' if caption else ''
    return '\n```{toctree}\n:hidden:\n' + head + '\n'.join(names) + '\n```\n'


def sections(source):
    """SECTIONS with all pages that there are."""
    placed = [name for names in SECTIONS.values() for name in names]
    others = sorted(f'docs/{page.stem}' for page in (source / 'docs').glob('*.md') if f'docs/{page.stem}' not in placed)
    return {**SECTIONS, 'Guides': SECTIONS['Guides'] + others}


def with_title(page, text, to):
    """A link to a page by its title, where its text is the name of a file."""
    named = re.fullmatch(r'[\w./-]*(\.md|/)', text) and (page.parent / to).exists()
    return f'[{pages.title_of(page.parent / to)}]({to})' if named else f'[{text}]({to})'


def with_figures(text):
    """Each <picture> as the two images by which Furo shows it on light and on dark pages."""
    def shown(picture):
        dark, light = re.search(r'srcset="([^"]*)"', picture[0])[1], re.search(r' src="([^"]*)"', picture[0])[1]
        width, words = re.search(r'width="(\d+)"', picture[0])[1], re.search(r'alt="([^"]*)"', picture[0])[1]
        return '\n'.join(f'```{{image}} {file}\n:class: only-{theme}\n:width: {width}px\n:alt: "{words}"\n```'
                         for theme, file in (('light', light), ('dark', dark)))
    return re.sub(r'<picture>.*?</picture>', shown, text, flags=re.DOTALL)


def lay_out(source, tool, programs):
    """The pages as Sphinx reads them."""
    shutil.copytree(ROOT / 'docs', source / 'docs')
    for name in ('CHANGELOG.md', 'CONTRIBUTING.md'):
        shutil.copy(ROOT / name, source)
    pages.write(pages.rows_of(tool), programs, source / 'docs' / 'reference')
    for index in source.glob('docs/*/index.md'):
        rest = sorted(page.stem for page in index.parent.glob('*.md') if page != index)
        if '{toctree}' not in index.read_text():
            index.write_text(index.read_text() + toctree(rest))
    ops = source / 'docs' / 'ops.md'
    families = sorted(f'ops/{page.stem}' for page in (source / 'docs' / 'ops').glob('*.md'))
    ops.write_text(ops.read_text() + toctree(families))
    first = (ROOT / 'README.md').read_text()
    (source / 'index.md').write_text(first + ''.join(toctree(names, caption)
                                                     for caption, names in sections(source).items()))
    for page in source.rglob('*.md'):
        text = re.sub(r'(\]\((?:\.\./)*)README\.md', r'\1index.md', with_figures(page.read_text()))
        page.write_text(re.sub(r'\[([\w./-]+)\]\(([\w./-]+\.md)\)',
                               lambda link, page=page: with_title(page, *link.groups()), text))
    shutil.copy(HERE / 'conf.py', source)
    shutil.copytree(HERE / 'static', source / '_static')


def join_parts(into):
    """Debian's Furo leaves its script and its style in parts that only a server of Debian's brings together."""
    script, style = into / '_static' / 'scripts' / 'furo.js', into / '_static' / 'styles' / 'furo.css'
    part = script.parent / 'gumshoe-patched.js'
    script.write_text(part.read_text() + re.sub(r'^import Gumshoe .*$', '', script.read_text(), flags=re.MULTILINE))
    part.unlink()

    def imported(place):
        return pathlib.Path('/usr/share' + place.group(1)).read_text()
    style.write_text(re.sub(r'@import url\((/javascript/[^)]*)\);', imported, style.read_text()))


def main():
    tool, programs, into = sys.argv[1], *map(pathlib.Path, sys.argv[2:4])
    shutil.rmtree(into, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / 'pages'
        lay_out(source, tool, programs)
        made = subprocess.run(['sphinx-build', '-q', '-W', '--keep-going', '-d', pathlib.Path(scratch) / 'doctrees',
                               source, into])
    if made.returncode:
        sys.exit(made.returncode)
    join_parts(into)


if __name__ == '__main__':
    main()
