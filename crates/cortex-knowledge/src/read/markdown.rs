//! The sections of a Markdown text: what stands between its headings.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::document::Section;

/// Most characters of a heading in a place.
const HEADING_CHARACTERS: usize = 80;

/// The sections, each with the headings above it. Marks of formatting stay: they tell lists and tables apart.
pub(super) fn sections(text: &str) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut headings: Vec<(HeadingLevel, String)> = Vec::new();
    let (mut begins, mut heading) = (0, None);
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                sections.push(section(&headings, text.get(begins..range.start)));
                heading = Some((level, String::new()));
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((level, title)) = heading.take() {
                    headings.retain(|(above, _)| *above < level);
                    headings.push((level, title.trim().chars().take(HEADING_CHARACTERS).collect()));
                }
                begins = range.end;
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some((_, title)) = &mut heading {
                    title.push_str(&part);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some((_, title)) = &mut heading {
                    title.push(' ');
                }
            }
            _ => {}
        }
    }
    sections.push(section(&headings, text.get(begins..)));
    sections
}

fn section(headings: &[(HeadingLevel, String)], text: Option<&str>) -> Section {
    let titles: Vec<&str> =
        headings.iter().map(|(_, title)| title.as_str()).filter(|title| !title.is_empty()).collect();
    Section { place: titles.join(", "), text: text.unwrap_or_default().trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        let sections = sections(text).into_iter().filter(|section| !section.text.is_empty());
        sections.map(|section| (section.place, section.text)).collect()
    }

    fn owned(sections: &[(&str, &str)]) -> Vec<(String, String)> {
        sections.iter().map(|(place, text)| ((*place).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn each_section_has_the_headings_above_it() {
        let text = "Intro.\n\n# Kettle `K2`\n\nHot.\n\n## Descaling\n\n- vinegar\n- water\n\n# Cup\nRed.\n";
        let expected =
            [("", "Intro."), ("Kettle K2", "Hot."), ("Kettle K2, Descaling", "- vinegar\n- water"), ("Cup", "Red.")];
        assert_eq!(read(text), owned(&expected));
    }

    #[test]
    fn a_hash_in_code_is_no_heading_and_underlined_ones_are() {
        let text = "Setup\n=====\n\n```sh\n# not a heading\nls\n```\n";
        assert_eq!(read(text), owned(&[("Setup", "```sh\n# not a heading\nls\n```")]));
    }

    #[test]
    fn a_heading_of_any_length_and_depth_is_bounded() {
        let text = format!("# {}\n\n###### deep\n\ntext\n", "long ".repeat(1_000));
        let sections = read(&text);
        assert!(sections[0].0.len() < 200 && sections[0].0.ends_with(", deep"), "{}", sections[0].0);
    }
}
