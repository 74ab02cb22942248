//! The part of a command line that belongs to ROS.

/// A command line, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SplitArguments {
    /// The program's own arguments.
    pub own: Vec<String>,
    /// The ROS arguments with their `--ros-args`, to be handed on to another process; ROS reads those of this process
    /// by itself.
    pub ros: Vec<String>,
}

/// Takes a command line apart as ROS does: from each `--ros-args` to a `--` or the end.
#[must_use]
pub fn split(arguments: impl IntoIterator<Item = String>) -> SplitArguments {
    let mut split = SplitArguments::default();
    let mut in_ros = false;
    for argument in arguments {
        match argument.as_str() {
            "--ros-args" => in_ros = true,
            "--" if in_ros => {
                in_ros = false;
                split.ros.push(argument);
                continue;
            }
            _ => {}
        }
        if in_ros { split.ros.push(argument) } else { split.own.push(argument) }
    }
    split
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ros_arguments_may_come_anywhere_and_more_than_once() {
        let table = [
            ("sim --world a.toml", "sim --world a.toml", ""),
            ("sim --ros-args -r __ns:=/r1", "sim", "--ros-args -r __ns:=/r1"),
            (
                "sim --ros-args -p a:=1 -- base --ros-args -p b:=2",
                "sim base",
                "--ros-args -p a:=1 -- --ros-args -p b:=2",
            ),
            ("sim -- base", "sim -- base", ""),
        ];
        for (line, own, ros) in table {
            let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(split(words(line)), SplitArguments { own: words(own), ros: words(ros) }, "{line}");
        }
    }
}
