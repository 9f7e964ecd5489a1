#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check.py SITE: the site in headless Chromium, read from its files.

Every page loads and asks nothing of a network; no link is dead; the search finds what it should; nothing is wider than
windows of 390 and 1280 pixels; keys reach search, navigation and content; text has contrast in light and dark. The last
line counts: `N passed, N failed`.
"""
import html.parser
import pathlib
import sys
import tempfile
import urllib.parse

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

ARGUMENTS = ('--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
             '--disable-background-networking', '--disable-component-update', '--disable-sync', '--hide-scrollbars')
WIDTHS = (390, 1280)
# Words for the search, and a page that has to be among the first results.
SEARCHES = {
    'top_k': 'reference/ops-sort', 'conv2d': 'reference/ops-window', 'einsum': 'reference/ops-matmul',
    'jacobian': 'reference/autograd', 'adam': 'reference/autograd', 'softmax': 'reference/ops-softmax',
    'broadcast': 'tutorial/2-ops', 'meshgrid': 'reference/composed-arrays', 'safetensors': 'docs/io',
    'bfloat16': 'docs/dtypes', 'fusion': 'tutorial/5-fusion', 'profile': 'docs/tools',
    'stft': 'reference/composed-signals', 'quantile': 'reference/composed-statistics', 'newaxis': 'docs/indexing',
    'thread_pool': 'reference/threads', 'register_kernel': 'docs/custom-ops', 'dropout': 'reference/composed-layers',
    'spectrogram': 'gallery/spectrogram', 'pkg-config': 'docs/install'}
FIRST_RESULTS = 12
LEAST_CONTRAST = 4.5  # WCAG 2.1, level AA
# Texts whose contrast with what is behind them is too small: a sample of each pair of colours.
CONTRAST = '''
const rgb = text => { const n = text.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
const light = c => { const v = c.slice(0, 3).map(x => x / 255).map(
    x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c[3] > 0.5) return c; } return [255, 255, 255, 1]; };
const seen = new Set(), poor = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const e = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !e.checkVisibility() || e.getBoundingClientRect().width <= 1) continue;
  const front = rgb(getComputedStyle(e).color), back = behind(e), pair = front + '|' + back;
  if (seen.has(pair)) continue;
  seen.add(pair);
  const [a, b] = [light(front), light(back)].sort((x, y) => x - y), ratio = (b + 0.05) / (a + 0.05);
  if (ratio < arguments[0]) poor.push(`${walker.currentNode.data.trim().slice(0, 30)} (${ratio.toFixed(2)})`);
}
return poor;'''

SHOWS_FOCUS = '''
const e = document.activeElement, shows = s => s.outlineStyle != "none" || s.boxShadow != "none";
return e.matches(":focus-visible") && (shows(getComputedStyle(e)) || shows(getComputedStyle(e.parentElement)));'''


class Page(html.parser.HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.parts, self.anchors = [], [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors |= {attrs[name] for name in ('id', 'name') if attrs.get(name)}
        if tag == 'a' and attrs.get('href'):
            self.links.append(attrs['href'])
        self.parts += [attrs[name] for name in ('src', 'href') if attrs.get(name) and tag in ('img', 'script', 'link')]


class Checks:
    def __init__(self, site, browser):
        self.site, self.browser = site, browser
        self.pages = {path: Page(path) for path in sorted(site.rglob('*.html'))}
        self.passed = self.failed = 0

    def expect(self, what, faults):
        faults = list(faults)
        self.passed += not faults
        self.failed += bool(faults)
        if faults:
            print(f'FAIL {what}: ' + '; '.join(faults[:5]))

    def name(self, path):
        return path.relative_to(self.site).as_posix()

    def open(self, path, query=''):
        self.browser.get(path.as_uri() + query)

    # ---------------------------------------------------------------------------------------- without a browser

    def dead_links(self, path):
        page = self.pages[path]
        for link in page.links + page.parts:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                if link in page.parts:
                    yield f'{link} comes from a network'
                continue
            to = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            if not to.is_file():
                yield f'{link} leads nowhere'
            elif url.fragment and to in self.pages and urllib.parse.unquote(url.fragment) not in self.pages[to].anchors:
                yield f'{link} has no such place'

    # ---------------------------------------------------------------------------------------- with one

    def faults_of_loading(self, path):
        self.open(path)
        heading = path.name == 'search.html' or self.browser.find_elements(By.TAG_NAME, 'h1')  # there results have one
        if not self.browser.title or not heading:
            yield 'no title, or no heading'
        for entry in self.browser.get_log('browser'):
            if entry['level'] == 'SEVERE':
                yield entry['message']
        yield from self.browser.execute_script(
            'return performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith("file:"))')

    def too_wide(self, width):
        shown = self.browser.execute_script('return document.documentElement.scrollWidth')
        if shown > width:
            yield f'{shown} pixels in a window of {width}'

    def poor_contrast(self, theme):
        self.browser.execute_script('document.body.dataset.theme = arguments[0]', theme)
        return self.browser.execute_script(CONTRAST, LEAST_CONTRAST)

    def set_width(self, width):
        self.browser.execute_cdp_cmd('Emulation.setDeviceMetricsOverride',
                                     {'width': width, 'height': 900, 'deviceScaleFactor': 1, 'mobile': False})

    def faults_of_search(self, words, wanted):
        self.open(self.site / 'index.html')
        field = self.browser.find_element(By.CSS_SELECTOR, 'input[name=q]')
        field.send_keys(words + Keys.ENTER)
        WebDriverWait(self.browser, 20).until(lambda b: 'Search' in b.title and b.execute_script(
            'return document.querySelector(".search-summary")?.textContent.includes("found") ||'
            ' document.querySelector(".search-summary")?.textContent.includes("did not match")'))
        found = [link.get_attribute('href') for link in self.browser.find_elements(By.CSS_SELECTOR, 'ul.search li a')]
        if not any(wanted + '.html' in link for link in found[:FIRST_RESULTS]):
            yield f'{len(found)} results, and {wanted} is not among the first {FIRST_RESULTS}'

    def unreached(self):
        """Elements that the Tab key must reach on a page, with a visible focus."""
        self.open(self.site / 'docs' / 'tutorial' / '1-tensors.html')
        wanted = {'search': 'input[name=q]', 'navigation': '.sidebar-tree a', 'content': 'article a'}
        body = self.browser.find_element(By.TAG_NAME, 'body')
        for _ in range(120):
            (self.browser.switch_to.active_element or body).send_keys(Keys.TAB)
            for what, selector in list(wanted.items()):
                if self.browser.execute_script('return document.activeElement.matches(arguments[0])', selector):
                    wanted.pop(what)
                    if not self.browser.execute_script(SHOWS_FOCUS):
                        yield f'nothing shows that the {what} has the focus'
        for what in wanted:
            yield f'the Tab key does not reach the {what}'

    def run(self):
        for path in self.pages:
            self.expect(f'links of {self.name(path)}', self.dead_links(path))
        for path in self.pages:
            for width in WIDTHS:
                self.set_width(width)
                self.expect(f'{self.name(path)} at {width}', [*self.faults_of_loading(path), *self.too_wide(width)])
            for theme in ('light', 'dark'):
                self.expect(f'contrast of {self.name(path)}, {theme}', self.poor_contrast(theme))
        for words, wanted in SEARCHES.items():
            self.expect(f'search for {words}', self.faults_of_search(words, wanted))
        self.expect('keys', self.unreached())


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as profile:
        options = webdriver.ChromeOptions()
        for argument in (*ARGUMENTS, f'--user-data-dir={profile}'):
            options.add_argument(argument)
        options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
        browser = webdriver.Chrome(options=options)
        try:
            checks = Checks(site, browser)
            checks.run()
        finally:
            browser.quit()
    print(f'{checks.passed} passed, {checks.failed} failed')
    sys.exit(1 if checks.failed or not checks.passed else 0)


if __name__ == '__main__':
    main()
