"""Starts a program as `ros2 launch` does, on a terminal of its own, and prints what it prints there.

    launcher.py PROGRAM [ARGUMENT ...]

Of the arguments, {launcher} stands for the id of this process. Killed, it leaves what it has started.
"""

import os
import pty
import subprocess
import sys


def main():
    # What emulate_tty does: it is gone with this process, so that whatever is printed after that is refused.
    reader, writer = pty.openpty()
    line = [argument.replace("{launcher}", str(os.getpid())) for argument in sys.argv[1:]]
    # The log goes on being read, by the story.
    subprocess.Popen(line, stdin=writer, stdout=writer)
    os.close(writer)
    while True:
        try:
            printed = os.read(reader, 4096)
        except OSError:
            return
        sys.stdout.write(printed.decode(errors="replace").replace("\r\n", "\n"))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
