//! Values that somebody would run. A text that may be anything is an argument of its own, or stands among plain words: then
//! it is read as what it is.
//!
//! That is told by the form of the arguments, whatever the program: one that is not known here may hand them to a shell as
//! well. Only who reads commands in any argument has to be known by name, since nothing shows it. What can be
//! no command, a number or one of the texts that the recipe itself lists, may stand everywhere.

use std::iter::once;

use crate::action::CommandLine;
use crate::parameter::{Piece, pieces};

/// What shells, interpreters and query languages are written with. A text in the midst of it would be a part of that.
const WRITTEN_WITH: &str = "`$;&|<>()[]{}'\"\\\n\r";
/// The letters of the short options behind which programs read commands, alone or with others: `-c`, `-ec`, `-S`.
const LETTERS: &str = "ceES";
/// Most letters of short options in one argument that is no shell's.
const MOST_LETTERS: usize = 3;
/// The long names of such options.
const LONG_OPTIONS: [&str; 7] =
    ["--command", "--eval", "--exec", "--execute", "--print", "--session-command", "--split-string"];
/// The letters of options that shells take together with `c`: `-euxc`. What has others is a word, as `-device`.
const SHELL_LETTERS: &str = "abefhiklmnpstuvxBCEHPT";
/// Who reads commands in whatever is given to it: joins it to a line for a shell, or has a language of its own.
const READ_COMMANDS: [&str; 17] = [
    "adb", "autossh", "awk", "eval", "gawk", "gmake", "make", "mawk", "mosh", "pdsh", "rsh", "screen", "sed", "sg",
    "ssh", "tmux", "watch",
];
/// Who has a letter of its own for an option behind which it reads commands.
const OWN_LETTERS: [(&str, char); 3] = [("node", 'p'), ("nodejs", 'p'), ("php", 'r')];

/// An argument with a text in it that would be read as commands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Script<'a> {
    pub(super) argument: &'a str,
    pub(super) because: Because<'a>,
}

/// What shows that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Because<'a> {
    /// This stands beside it.
    WrittenWith(char),
    /// It follows this option.
    Follows(&'a str),
    /// This reads it so.
    ReadBy(&'a str),
}

/// The arguments of a command in which a text, one of the parameters that `may_be_anything`, would be read as commands.
///
/// What follows one of those options is taken for commands up to the first argument that is no option: better refused without
/// need than run.
pub(super) fn with_texts(command: &CommandLine, may_be_anything: impl Fn(&str) -> bool) -> Vec<Script<'_>> {
    let mut found = Vec::new();
    let (mut option, mut reader, mut letter) = (None, None, None);
    for argument in once(&command.program).chain(&command.arguments) {
        let parts = pieces(argument);
        let has_text = parts.iter().any(|piece| matches!(piece, Piece::Parameter(name) if may_be_anything(name)));
        let is_option = argument.starts_with('-');
        if let Some(opens) = parts.first().and_then(|first| opens_script(first, letter)) {
            option = Some(opens);
        }
        let follows = option.map(Because::Follows);
        let written = || written_with(&parts).map(Because::WrittenWith);
        if has_text && let Some(because) = reader.map(Because::ReadBy).or(follows).or_else(written) {
            found.push(Script { argument, because });
        }
        if !is_option {
            option = None;
            let name = argument.rsplit('/').next().unwrap_or_default();
            reader = reader.or_else(|| READ_COMMANDS.into_iter().find(|known| *known == name));
            letter = letter.or_else(|| OWN_LETTERS.into_iter().find(|(known, _)| *known == name).map(|(_, own)| own));
        }
    }
    found
}

/// The option, if commands begin in this beginning of an argument or after it: `-c`, `-ec`, `-ce`, `--eval`, `--eval=`.
/// This program may have a letter of its own for that.
fn opens_script<'a>(beginning: &Piece<'a>, own: Option<char>) -> Option<&'a str> {
    let Piece::Text(text) = beginning else { return None };
    let option = text.split('=').next().unwrap_or_default();
    let opens = match option.strip_prefix('-')? {
        long if long.starts_with('-') => LONG_OPTIONS.contains(&option),
        letters if letters.len() <= MOST_LETTERS => {
            letters.chars().all(|letter| letter.is_ascii_alphabetic())
                && letters.contains(|letter| LETTERS.contains(letter) || own == Some(letter))
        }
        letters => {
            letters.contains('c') && letters.chars().all(|letter| letter == 'c' || SHELL_LETTERS.contains(letter))
        }
    };
    opens.then_some(option)
}

/// The first character in the text of an argument that commands are written with.
fn written_with(parts: &[Piece<'_>]) -> Option<char> {
    parts.iter().find_map(|piece| match piece {
        Piece::Text(text) => text.chars().find(|next| WRITTEN_WITH.contains(*next)),
        Piece::Parameter(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Why the texts of a command line, whose words stand between bars, would be read as commands. `{text}` and `{other}`
    /// may be anything.
    fn reasons(line: &str) -> Vec<String> {
        let mut words = line.split('|').map(str::to_owned);
        let program = words.next().unwrap();
        let command = CommandLine { program, arguments: words.collect(), environment: Default::default() };
        let scripts = with_texts(&command, |name| matches!(name, "text" | "other"));
        let because = |script: &Script<'_>| match script.because {
            Because::WrittenWith(character) => character.to_string(),
            Because::Follows(option) => option.to_owned(),
            Because::ReadBy(program) => program.to_owned(),
        };
        scripts.iter().map(because).collect()
    }

    #[test]
    fn a_text_in_a_script_is_seen_whatever_the_program_is() {
        for (line, because) in [
            ("/bin/sh|-c|say {text}", "-c"),
            ("bash|-ec|say {text}", "-ec"),
            ("bash|-ce|say {text}", "-ce"),
            ("bash|-cx|{text}", "-cx"),
            ("bash|-c|-x|say {text}", "-c"),
            ("bash|-o|pipefail|-c|say {text}", "-c"),
            ("sh|-c|--|say {text}", "-c"),
            ("sh|-c|VOICE={text} speak", "-c"),
            ("env|bash|-c|say {text}", "-c"),
            ("env|-S|bash -c {text}", "-S"),
            ("env|--split-string=sh -c {text}", "--split-string"),
            ("busybox|sh|-c|say {text}", "-c"),
            ("sudo|-u|robot|/usr/bin/sh|-c|say {text}", "-c"),
            ("su|robot|-c|say {text}", "-c"),
            ("su|--command=say {text}|robot", "--command"),
            ("python3|-c|print('{text}')", "-c"),
            ("/usr/bin/python3.12|-uc|print('{text}')", "-uc"),
            ("python3|-cprint('{text}')", "("),
            ("perl|-e|1|-e|print '{text}'", "-e"),
            ("php|-r|print '{text}';", "-r"),
            ("node|--eval|say('{text}')", "--eval"),
            ("ssh|host|say {text}", "ssh"),
            ("bash|-euxc|say {text}", "-euxc"),
            ("su|robot|--session-command=say {text}", "--session-command"),
            ("sed|-i|s/NAME/{text}/|greeting.txt", "sed"),
            ("make|say|TEXT={text}", "make"),
            ("tmux|send-keys|-t|robot|say {text}|Enter", "tmux"),
            ("watch|say|{text}", "watch"),
            ("node|-p|{text}", "-p"),
            ("php|-r|{text}", "-r"),
            ("timeout|5|/usr/bin/ssh|-p|22|host|say|{text}", "ssh"),
            // Programs that no list would have.
            ("new_shell|-c|{text}", "-c"),
            ("xterm|-e|{text}", "-e"),
            ("awk|BEGIN { print \"{text}\" }", "awk"),
            ("new_awk|BEGIN { print \"{text}\" }", "{"),
            ("sqlite3|speech.db|insert into said values ('{text}')", "("),
            ("jq|.said = \"{text}\"", "\""),
            ("ros2|topic|pub|/say|std_msgs/msg/String|data: '{text}'", "'"),
            ("new_terminal|echo {text} > said", ">"),
        ] {
            assert_eq!(reasons(line), [because], "{line}");
        }
    }

    #[test]
    fn a_value_that_nobody_runs_is_allowed() {
        for line in [
            "sh|-c|say \"$1\"|sh|{text}",
            "bash|say.sh|{text}",
            "bash|-e|say.sh|{text}",
            "python3|-u|say.py|--text|{text}|--loud",
            "perl|-Mre|say.pl|{text}",
            "speak|-v|calm|--text={text}|text:={other}",
            "speak|--|Dear {text}, welcome to the {other}!",
            "play|-device|{text}|/sounds/{other}.wav",
            "mosquitto_pub|-t|said|-m|{text}",
            "ros2|topic|pub|--once|/say|std_msgs/msg/String|{text}",
            "sh|-c|echo {{text}}",
            // No text that may be anything.
            "ping|-c|{count}|host",
            "sh|-c|speak \"{mood}\" $(({count} + 1))",
        ] {
            assert_eq!(reasons(line), Vec::<String>::new(), "{line}");
        }
    }
}
