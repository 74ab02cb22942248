"""Reads a launch file as `ros2 launch` does, and prints its arguments, and what it would start, as lines of JSON.

    launch_files.py FILE PREFIX [NAME:=VALUE ...]

With a ROS 2 that has launch and launch_ros, these are used; the private set-up has neither, so small stubs take their
place, which know no more than what our files use. PREFIX/share/cortex stands for what is installed.
"""

import importlib
import importlib.util
import json
import os
import sys
import types


class Text:
    """A stub of launch.substitutions.LaunchConfiguration."""

    def __init__(self, name):
        self.name = name

    def perform(self, context):
        return context.launch_configurations[self.name]


class Declared:
    """A stub of launch.actions.DeclareLaunchArgument."""

    def __init__(self, name, *, default_value=None, description=None, choices=None):
        self.name, self.default, self.description, self.choices = name, default_value, description, choices


class Opaque:
    """A stub of launch.actions.OpaqueFunction."""

    def __init__(self, *, function, args=None, kwargs=None):
        self.function = function

    def execute(self, context):
        return self.function(context)


class Description:
    """A stub of launch.LaunchDescription."""

    def __init__(self, entities=()):
        self.entities = list(entities)


class StubNode:
    """A stub of launch_ros.actions.Node of Jazzy, with those of its keywords that are of use here."""

    def __init__(
        self,
        *,
        executable,
        package=None,
        name=None,
        namespace=None,
        parameters=None,
        remappings=None,
        ros_arguments=None,
        arguments=None,
        additional_env=None,
        output="log",
        emulate_tty=False,
        prefix=None,
        respawn=False,
        respawn_delay=None,
        sigterm_timeout="5",
        sigkill_timeout="5",
    ):
        pass


def stubs():
    modules = {
        "launch": {"LaunchDescription": Description},
        "launch.actions": {"DeclareLaunchArgument": Declared, "OpaqueFunction": Opaque},
        "launch.substitutions": {"LaunchConfiguration": Text},
        "launch_ros": {},
        "launch_ros.actions": {"Node": StubNode},
        "launch_ros.substitutions": {},
    }
    for name, members in modules.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(members)


def main():
    file, prefix, *given = sys.argv[1:]
    try:
        import launch_ros.actions  # noqa: F401
        from launch import LaunchContext
    except ImportError:
        stubs()
        LaunchContext = types.SimpleNamespace
    actions = importlib.import_module("launch_ros.actions")
    substitutions = importlib.import_module("launch_ros.substitutions")
    started = []

    class Recorded(actions.Node):
        def __init__(self, **keywords):
            super().__init__(**keywords)
            started.append(keywords)

    class Share:
        def __init__(self, package):
            self.package = package

        def perform(self, context):
            return os.path.join(prefix, "share", self.package)

    actions.Node = Recorded
    substitutions.FindPackageShare = Share

    specification = importlib.util.spec_from_file_location("file", file)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    context = LaunchContext()
    if not hasattr(context, "launch_configurations"):
        context.launch_configurations = {}
    for entity in module.generate_launch_description().entities:
        if type(entity).__name__ in ("Declared", "DeclareLaunchArgument"):
            default = entity.default if isinstance(entity, Declared) else "".join(p.text for p in entity.default_value)
            context.launch_configurations[entity.name] = default
            told = {"argument": entity.name, "default": default, "description": entity.description}
            print(json.dumps({**told, "choices": entity.choices}))
        else:
            values = dict(pair.split(":=", 1) for pair in given)
            unknown = set(values) - set(context.launch_configurations)
            if unknown:
                sys.exit(f"no arguments {unknown}")
            context.launch_configurations.update(values)
            entity.execute(context)
    for keywords in started:
        print(json.dumps({"node": keywords}))


if __name__ == "__main__":
    main()
