//! Small words for people, written in one place: counted nouns, and the name that was probably meant.

use std::fmt::Display;

/// How alike two names are that are taken for one, from 0 to 1.
const ALIKE: f64 = 0.7;
/// Names that are compared, and characters of each: who asks may be anybody, and what is known may be a lot.
const MOST_NAMES: usize = 2_000;
const MOST_CHARACTERS: usize = 100;

/// So many of something: `1 tool`, `3 tools`. `noun` is the singular of a noun whose plural ends in `s`.
#[must_use]
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    if count == N::from(1) { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// The name that is most like `wrong`, where one is like it. Capitals count for nothing.
#[must_use]
pub fn likeliest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.chars().take(MOST_CHARACTERS).collect::<String>().to_lowercase();
    let wrong = plain(wrong);
    // What stands after the last dot or slash may be right, and all before it missing.
    let alike = |name: &str| {
        let name = plain(name);
        let last = name.rsplit(['.', '/']).next().unwrap_or_default();
        let whole = strsim::normalized_damerau_levenshtein(&wrong, &name);
        whole.max(strsim::normalized_damerau_levenshtein(&wrong, last) - 0.05)
    };
    let alike = names.into_iter().take(MOST_NAMES).map(|name| (alike(name), name)).filter(|(alike, _)| *alike >= ALIKE);
    // Of two that are as like, the first by name.
    let best = alike.max_by(|(one, of_one), (other, of_other)| one.total_cmp(other).then_with(|| of_other.cmp(of_one)));
    best.map(|(_, name)| name)
}

/// What stands behind a name that there is not: ` (did you mean 'base.go_to'?)`. Empty where no name is like it.
#[must_use]
pub fn did_you_mean<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    likeliest(wrong, names).map(|meant| format!(" (did you mean '{meant}'?)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one_and_all_else_is_many() {
        assert_eq!([0_usize, 1, 2].map(|count| counted(count, "tool")), ["0 tools", "1 tool", "2 tools"]);
    }

    #[test]
    fn the_name_that_is_most_like_it_is_meant_and_none_where_none_is() {
        let names = ["base.go_to", "base.halt", "speaker.say", "gripper.open"];
        for (wrong, meant) in [
            ("base.goto", Some("base.go_to")),
            ("Base.Go_To", Some("base.go_to")),
            ("bsae.halt", Some("base.halt")),
            ("go_to", Some("base.go_to")),
            ("speaker", None),
            ("", None),
            ("dance", None),
        ] {
            assert_eq!(likeliest(wrong, names), meant, "{wrong}");
        }
        assert_eq!(likeliest("ab", ["ac", "aa"]), None, "half of it is another");
        assert_eq!(did_you_mean("base.hlat", names), " (did you mean 'base.halt'?)");
        let flood = "x".repeat(1_000_000);
        assert_eq!(likeliest(&flood, [flood.as_str()]), Some(flood.as_str()));
    }
}
