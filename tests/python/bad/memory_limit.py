"""Runs a program with so much memory and no more: `memory_limit.py 200 PROGRAM [ARGUMENTS]` gives it 200 MB.

What works depends on the machine, so the ways are tried in this order:

1. a memory control group below one's own (version 1, or a version 2 that was delegated): the kernel kills (SIGKILL);
2. a scope of systemd, of the user where there is no root: the kernel kills, too;
3. a limit of the address space (RLIMIT_AS), which is always there: the program is refused memory, and is expected to do to
   itself what the kernel would have done. `component.py` does.

`memory_limit.py --tell` prints which one it would be: `group`, `scope` or `limit`."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

MEGABYTE = 1 << 20
GROUPS = Path("/sys/fs/cgroup")
# The name of a group begins with it; those of programs that have ended are removed by the next one.
PREFIX = "cortex-bad-"


def own_groups():
    """The folder of one's own memory group, with the name of the file that holds the limit."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            yield GROUPS / "memory" / path.lstrip("/"), "memory.limit_in_bytes"
        elif controllers == "":
            for root in (GROUPS, GROUPS / "unified"):
                yield root / path.lstrip("/"), "memory.max"


def remove_groups():
    """Removes the groups of programs that have ended; one that is in use can't be removed."""
    for folder, _ in own_groups():
        for group in folder.glob(PREFIX + "*"):
            try:
                group.rmdir()
            except OSError:
                pass


def enter_group(limit):
    remove_groups()
    for folder, file in own_groups():
        group = folder / f"{PREFIX}{os.getpid()}"
        try:
            group.mkdir()
            (group / file).write_text(str(limit))
            (group / "cgroup.procs").write_text(str(os.getpid()))
            return True
        except OSError:
            try:
                group.rmdir()
            except OSError:
                pass
    return False


def leave_group():
    for folder, _ in own_groups():
        try:
            (folder.parent / "cgroup.procs").write_text(str(os.getpid()))
        except OSError:
            pass
    remove_groups()


def scope(limit):
    """The command that puts what follows into a scope; None where systemd does not run or does not let us."""
    if shutil.which("systemd-run") is None:
        return None
    whose = [] if os.geteuid() == 0 else ["--user"]
    command = ["systemd-run", *whose, "--scope", "--quiet", "--collect"]
    command += ["-p", f"MemoryMax={limit}", "-p", "MemorySwapMax=0"]
    try:
        tried = subprocess.run([*command, "true"], stderr=subprocess.DEVNULL, timeout=5.0, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return command if tried.returncode == 0 else None


def main():
    if sys.argv[1] == "--tell":
        if enter_group(64 * MEGABYTE):
            leave_group()
            print("group")
        else:
            print("scope" if scope(64 * MEGABYTE) else "limit")
        return
    limit, program = int(sys.argv[1]) * MEGABYTE, sys.argv[2:]
    if enter_group(limit):
        os.execvp(program[0], program)
    in_scope = scope(limit)
    if in_scope:
        os.execvp(in_scope[0], [*in_scope, *program])
    # Of an address space, a program reserves far more than it uses.
    resource.setrlimit(resource.RLIMIT_AS, (8 * limit, 8 * limit))
    os.execvp(program[0], program)


if __name__ == "__main__":
    main()
