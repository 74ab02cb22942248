"""A terminal of its own for the program that is named: prints, after each change, a line of JSON with all that the terminal
shows, and types what it reads. Ends as the program does.
"""

import json
import os
import pty
import select
import sys

CHUNK = 4096


def main():
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(sys.argv[1], sys.argv[1:])
    sources, screen = [terminal, 0], ""
    while True:
        ready, _, _ = select.select(sources, [], [])
        if terminal in ready:
            try:
                shown = os.read(terminal, CHUNK)
            except OSError:
                # The program has closed its end.
                shown = b""
            if not shown:
                break
            screen += shown.decode(errors="replace").replace("\r\n", "\n")
            print(json.dumps({"screen": screen}), flush=True)
        if 0 in ready:
            typed = os.read(0, CHUNK)
            if typed:
                os.write(terminal, typed)
            else:
                sources.remove(0)
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
