# SPDX-License-Identifier: Apache-2.0
"""Files that a program makes and that are kept in this repository: written, or compared with what was made."""


def keep(folder, patterns, texts, check, plain=str):
    """Writes texts, {name: text}, and removes what else matches the patterns; with check it does neither.

    The answer is the names of files that are missing, stale or different, where plain leaves out what need not agree.
    """
    present = {str(path.relative_to(folder)) for pattern in patterns for path in folder.glob(pattern)}
    different = sorted(present - texts.keys())
    for name, text in texts.items():
        if name not in present or plain((folder / name).read_text()) != plain(text):
            different.append(name)
    if not check:
        for name in present - texts.keys():
            (folder / name).unlink()
        for name, text in texts.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
    return different
