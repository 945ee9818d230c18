# SPDX-License-Identifier: Apache-2.0
"""Sphinx's settings for the reference of the package: sphinx-build -W bindings/python/docs OUTPUT, with max importable."""

import max

project = "max"
author = "the authors of MAX"
version = release = max.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon"]
default_role = "literal"
napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_mock_imports = ["ray", "starlette"]  # the reference is made without them
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "show-inheritance": True, "undoc-members": True}
html_theme = "basic"
html_copy_source = False
