# SPDX-License-Identifier: Apache-2.0
"""Running the lacis program: what the scripts beside this one share."""
import csv
import io
import os
import shutil
import signal
import subprocess
import sys

SKIPPED = 77  # ctest's return code for a test that could not run


class Program:
    def __init__(self, path):
        self.path = os.path.abspath(path)

    def copied(self, folder):
        """The program where any user may run it."""
        os.chmod(folder, 0o755)
        return Program(shutil.copy(self.path, folder))

    def run(self, text, *args, folder=None, **how):
        """Runs a script from standard input: (exit code, stdout, stderr)."""
        done = subprocess.run([self.path, *args, "--mode", "csv", "-f", "-"], input=text, cwd=folder, timeout=300,
                              capture_output=True, text=True, **how)
        return done.returncode, done.stdout, done.stderr

    def good(self, text, *args, **how):
        """The rows of all results, headings included, of a script that must succeed."""
        code, out, err = self.run(text, *args, **how)
        assert code == 0, f"exit {code} of {text!r}: {err}"
        return list(csv.reader(io.StringIO(out)))

    def bad(self, part, text, *args, **how):
        """A script that must fail with exit code 1 and say `part`; its stderr."""
        code, _, err = self.run(text, *args, **how)
        assert code == 1, f"exit {code} of {text!r}: {err}"
        assert part in err, f"{part!r} is not in {err!r}"
        return err


def plain_user():
    """For preexec_fn: gives up the rights of root, which no permission stops."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


def usual_interrupt():
    """For preexec_fn: Ctrl-C as at a terminal, also where ctest itself ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def run_all(tests):
    for test in tests:
        said = test()
        print(f"passed: {test.__name__}{': ' + said if said else ''}", flush=True)
    return 0


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(SKIPPED)
