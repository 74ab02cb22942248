//! Cuts sections into passages that are short enough for a prompt and long enough to be understood alone.

use crate::document::{Document, Passage, Section};

/// Most characters of a passage: some 250 tokens, so that several fit beside a task.
pub(crate) const PASSAGE_CHARACTERS: usize = 1_000;

/// The passages of a document, in order.
pub(crate) fn passages(document: &Document) -> Vec<Passage> {
    document.sections.iter().flat_map(cut).collect()
}

/// Paragraphs are kept together as long as they fit; a longer one is cut at the end of a sentence, or else of a word.
fn cut(section: &Section) -> Vec<Passage> {
    let mut texts: Vec<String> = Vec::new();
    for paragraph in paragraphs(&section.text) {
        for piece in pieces(&paragraph) {
            match texts.last_mut() {
                Some(last) if length(last) + 1 + length(piece) <= PASSAGE_CHARACTERS => {
                    last.push('\n');
                    last.push_str(piece);
                }
                _ => texts.push(piece.to_owned()),
            }
        }
    }
    texts.into_iter().map(|text| Passage { place: section.place.clone(), text }).collect()
}

/// The paragraphs, each without the blank lines around it.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in text.lines() {
        let line = line.trim_end();
        if line.is_empty() {
            paragraphs.push(String::new());
        } else if let Some(paragraph) = paragraphs.last_mut() {
            if !paragraph.is_empty() {
                paragraph.push('\n');
            }
            paragraph.push_str(line);
        }
    }
    paragraphs.retain(|paragraph| !paragraph.trim().is_empty());
    paragraphs
}

/// A paragraph in pieces that fit.
fn pieces(paragraph: &str) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), paragraph);
    while let Some((limit, _)) = rest.char_indices().nth(PASSAGE_CHARACTERS) {
        let head = rest.get(..limit).unwrap_or(rest);
        let end = [". ", "! ", "? ", "\n", "。"]
            .iter()
            .filter_map(|mark| head.rfind(mark).map(|at| at + mark.len()))
            .max()
            .or_else(|| head.rfind(' ').map(|at| at + 1))
            .unwrap_or(limit);
        let (piece, after) = rest.split_at(end);
        pieces.push(piece.trim_end());
        rest = after.trim_start();
    }
    pieces.push(rest);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        passages(&Document::of_text("a", text)).into_iter().map(|passage| passage.text).collect()
    }

    #[test]
    fn short_paragraphs_stay_together_and_blank_ones_are_nothing() {
        assert_eq!(texts("One.\n\n  \n\nTwo,\nand more.\n"), ["One.\nTwo,\nand more."]);
        assert!(texts(" \n\n\t\n").is_empty());
    }

    #[test]
    fn a_long_paragraph_is_cut_at_sentences_and_nothing_is_lost() {
        let sentence = "The kettle is in the kitchen, beside the sink. ";
        let text = sentence.repeat(100);
        let texts = texts(&text);
        assert!(texts.len() > 4, "{}", texts.len());
        assert!(texts.iter().all(|text| length(text) <= PASSAGE_CHARACTERS && text.ends_with('.')), "{texts:#?}");
        assert_eq!(texts.join(" "), text.trim_end());
    }

    #[test]
    fn a_text_without_any_place_to_cut_is_cut_all_the_same() {
        let text = "é".repeat(2_500);
        let texts = texts(&text);
        assert_eq!(texts.iter().map(|text| length(text)).collect::<Vec<_>>(), [1_000, 1_000, 500]);
        assert_eq!(texts.concat(), text);
    }
}
