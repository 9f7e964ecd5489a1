# SPDX-License-Identifier: Apache-2.0
"""The version of Clang and its tools that ./dev uses, as clang.ini has it."""
import configparser
import pathlib

CLANG_INI = pathlib.Path(__file__).resolve().parent / 'clang.ini'


def llvm_version():
    found = configparser.ConfigParser()
    found.read(CLANG_INI)
    return found['constants']['llvm'].strip("'")
