"""What every peer in rclpy does in the same way: it says that it is ready, spins until it is told to end, and leaves."""

import os
import signal
import threading

from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import uninstall_signal_handlers

# How long the nodes may take to leave the graph. One that has not is seen until the lease of this process ends, which
# takes 20 s.
LEAVING_LIMIT_S = 3

# Set when the process is told to end, by SIGTERM, Ctrl-C or a thread of its own.
leaving = threading.Event()


def spin(*nodes, executor=None):
    """Ends the process when it is told to. With the executor given, or on one thread."""
    executor = executor or SingleThreadedExecutor()
    for node in nodes:
        executor.add_node(node)
    # Those of rclpy end the executor, which now and then never returns.
    uninstall_signal_handlers()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: leaving.set())
    print("ready", flush=True)
    # Nothing may wait for the nodes' parts while they are destroyed, or some of them stay.
    while not leaving.is_set():
        executor.spin_once(timeout_sec=0.1)
    leave(executor)


def leave(executor):
    """Leaves the graph in good order, but does not wait for what is still being answered."""
    # Destroying a node that has just answered hangs now and then, and lets no thread of Python run: the kernel ends it then.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LEAVING_LIMIT_S)
    nodes = executor.get_nodes()
    # It lets go of what it holds of the nodes.
    executor.shutdown()
    for node in nodes:
        node.destroy_node()
    # Threads of calls that never end would keep the process.
    os._exit(0)
