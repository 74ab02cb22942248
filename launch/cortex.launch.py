"""Starts Cortex, with a recipe the whole robot.

    ros2 launch cortex cortex.launch.py recipe:=agent model:=openai:qwen3@http://localhost:11434/v1
    ros2 launch cortex cortex.launch.py --show-args
"""

import os

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

ARGUMENTS = [
    (
        "recipe",
        "",
        "What the whole robot consists of, brought up and kept alive by Cortex: the path of a file, or the name of a recipe "
        "of this package (agent, navigation, patrol). Empty: Cortex uses the robot that runs.",
    ),
    ("model", "", "Who plans: reflex, or openai:NAME@URL. Empty: as the recipe and the configuration say."),
    ("config", "", "The configuration of Cortex, a TOML file. Empty: the defaults, or the file that CORTEX_CONFIG names."),
    (
        "namespace",
        "",
        "The namespace of the node, for robots that share a network. The components of a recipe have the names that the "
        "recipe gives them.",
    ),
    (
        "use_sim_time",
        "",
        "Whether the time of messages is taken from /clock; with true, the components of a recipe do so, too. Empty: as "
        "params_file says, or false.",
    ),
    (
        "log_level",
        "",
        "How much is logged. Empty: as log_level of the configuration says, or info. The variable RUST_LOG counts more.",
    ),
    ("params_file", "", "A YAML file of ROS parameters: every key of the configuration, by its dotted name."),
    (
        "autostart",
        "",
        "Whether Cortex makes itself active. false: a lifecycle manager does. Empty: as params_file says, or true.",
    ),
    ("respawn", "false", "Whether Cortex is started again, two seconds after it has ended in whatever way."),
    (
        "shutdown_timeout",
        "120",
        "How many seconds Cortex has from Ctrl-C on until everything is at rest and all components are down. Then it is "
        "killed.",
    ),
]
# What may be given where not everything may.
CHOICES = {"log_level": ["", "debug", "info", "warn", "error"]}


def is_true(text):
    """A truth value as people write it on a command line."""
    known = {"true": True, "1": True, "false": False, "0": False}
    if text.strip().lower() not in known:
        raise RuntimeError(f"'{text}' is neither true nor false")
    return known[text.strip().lower()]


def seconds(text):
    """A time span as people write it on a command line, in seconds."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 86400.0:
        raise RuntimeError(f"'{text}' is no number of seconds above 0, at most 86400")
    return value


def full_path(path):
    """From the root on, with ~ for the home of who calls."""
    return os.path.abspath(os.path.expanduser(path))


def file_of(name, path):
    """The full path of a file that must be there.

    Launch itself leaves out a parameters file that is not there, with a warning, and so what the file forbids.
    """
    file = full_path(path)
    if not os.path.isfile(file):
        raise RuntimeError(f"{name}: there is no file {file}; nothing is started without it")
    if not os.access(file, os.R_OK):
        raise RuntimeError(f"{name}: the file {file} can't be read; nothing is started without it")
    return file


def recipe_file(context, name):
    """The file of a recipe: one of this package, where only a name is given."""
    if os.sep in name or name.endswith(".toml"):
        return file_of("recipe", name)
    recipes = os.path.join(FindPackageShare("cortex").perform(context), "recipes")
    known = sorted(file.removesuffix(".toml") for file in os.listdir(recipes) if file.endswith(".toml"))
    if name not in known:
        raise RuntimeError(f"there is no recipe '{name}': give the path of a file, or one of {', '.join(known)}")
    return os.path.join(recipes, f"{name}.toml")


def start(context):
    """The node, with what the arguments say."""

    def value(name):
        return LaunchConfiguration(name).perform(context)

    # When launch is killed, or ended by SIGTERM, it leaves what it has started; Cortex ends with it, in order.
    arguments = ["run", "--exit-with-pid", str(os.getpid())]
    if value("recipe"):
        arguments.append(recipe_file(context, value("recipe")))
    if value("model"):
        arguments += ["--model", value("model")]
    if value("config"):
        arguments += ["--config", file_of("config", value("config"))]
    parameters = [file_of("params_file", value("params_file"))] if value("params_file") else []
    # What is given here goes over the file; what is not leaves the file its say.
    given = {name: is_true(value(name)) for name in ("use_sim_time", "autostart") if value(name)}
    if given:
        parameters.append(given)
    # Launch would kill it ten seconds after Ctrl-C by default, in the midst of halting the robot. SIGTERM, halfway, is what
    # Cortex does already.
    half_the_time = str(seconds(value("shutdown_timeout")) / 2)
    return [
        Node(
            package="cortex",
            executable="cortex",
            name="cortex",
            namespace=value("namespace"),
            arguments=arguments,
            parameters=parameters,
            # Of Cortex only: the client library tells of each of its waits.
            ros_arguments=["--log-level", f"cortex:={value('log_level')}"] if value("log_level") else [],
            output="screen",
            emulate_tty=True,
            respawn=is_true(value("respawn")),
            respawn_delay=2.0,
            sigterm_timeout=half_the_time,
            sigkill_timeout=half_the_time,
        )
    ]


def generate_launch_description():
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=description, choices=CHOICES.get(name))
        for name, default, description in ARGUMENTS
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=start)])
