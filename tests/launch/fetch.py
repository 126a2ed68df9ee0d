# SPDX-License-Identifier: BSD-3-Clause
"""fetch.py PLACE: installs the launchers of requirements.txt into a virtual environment at PLACE.

Exit codes: 0; 77 if PyPI cannot be reached; 1 for anything else.
"""

import pathlib
import re
import subprocess
import sys

REQUIREMENTS = pathlib.Path(__file__).resolve().parent / "requirements.txt"
SKIPPED = 77


def main():
    place = pathlib.Path(sys.argv[1])
    stamp = place / "installed"
    if stamp.exists() and stamp.read_text() == REQUIREMENTS.read_text():
        return
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    done = subprocess.run([place / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install",
                           "--quiet", "-r", REQUIREMENTS], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        stamp.write_text(REQUIREMENTS.read_text())
        return
    said = done.stdout + done.stderr
    print(said[-3000:], file=sys.stderr)
    unreachable = re.search(r"No matching distribution found|Connection|Max retries|timed out", said)
    sys.exit(SKIPPED if unreachable else 1)


if __name__ == "__main__":
    main()
