# SPDX-License-Identifier: Apache-2.0
"""How Sphinx makes the site: Markdown by MyST, Furo's look, nothing that a network has to bring."""
project = 'kerngrad'
extensions = ['myst_parser']
myst_heading_anchors = 4
nitpicky = True
suppress_warnings = ['misc.highlighting_failure']  # the Meson of today is not that of Debian's Pygments
html_theme = 'furo'
html_title = 'kerngrad'
html_static_path = ['_static']
html_css_files = ['site.css']
html_show_copyright = html_show_sphinx = html_show_sourcelink = html_copy_source = False
highlight_language = 'none'
pygments_style, pygments_dark_style = 'xcode', 'github-dark'
