//! The text of a page. A PDF says where each character stands, and nothing of words, lines and paragraphs: those follow from
//! the distances, as shares of the size of the letters.

use pdf_extract::{MediaBox, OutputDev, OutputError, Transform};

use super::TEXT_BYTES;

/// A gap within a line that is a space. Spaces of fonts are a fourth of the size or more, kerning is less than a seventh.
const SPACE: f64 = 0.2;
/// How far the next line is off at least: indices and exponents are less.
const LINE: f64 = 0.6;
/// How far the next paragraph is off at least.
const PARAGRAPH: f64 = 1.7;
/// What a font may have as one letter, and readers as several.
const LIGATURES: [(char, &str); 7] = [
    ('\u{fb00}', "ff"),
    ('\u{fb01}', "fi"),
    ('\u{fb02}', "fl"),
    ('\u{fb03}', "ffi"),
    ('\u{fb04}', "ffl"),
    ('\u{fb05}', "st"),
    ('\u{fb06}', "st"),
];

/// Collects the text of one page, in the order in which it is drawn.
#[derive(Default)]
pub(super) struct PageText {
    text: String,
    /// Where the last character ended. None: nothing was drawn yet.
    last: Option<End>,
}

struct End {
    x: f64,
    y: f64,
}

impl PageText {
    /// The text: lines, with an empty one between paragraphs.
    pub(super) fn into_text(self) -> String {
        self.text.trim().to_owned()
    }

    /// Whether it has more text than a document may have.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() > TEXT_BYTES
    }

    fn break_line(&mut self, breaks: &str) {
        self.text.truncate(self.text.trim_end().len());
        self.text.push_str(breaks);
    }

    /// What stands between the last character and one at this place.
    fn separate(&mut self, x: f64, y: f64, size: f64, is_lowercase: bool) {
        let Some(last) = &self.last else { return };
        let (right, down) = ((x - last.x) / size, (y - last.y).abs() / size);
        if down > PARAGRAPH {
            self.break_line("\n\n");
        } else if down > LINE {
            if is_lowercase && is_hyphenated(&self.text) {
                // The word goes on in the next line.
                self.text.pop();
            } else {
                self.break_line("\n");
            }
        } else if right > SPACE && !self.text.ends_with(char::is_whitespace) {
            self.text.push(' ');
        }
    }

    fn push(&mut self, letter: char) {
        match letter {
            '\u{ad}' | '\u{feff}' => {}
            letter if letter.is_whitespace() => {
                if !self.text.ends_with(char::is_whitespace) {
                    self.text.push(' ');
                }
            }
            letter if letter.is_control() => {}
            letter => match LIGATURES.iter().find(|(ligature, _)| *ligature == letter) {
                Some((_, letters)) => self.text.push_str(letters),
                None => self.text.push(letter),
            },
        }
    }
}

/// Whether a text ends in the middle of a word.
fn is_hyphenated(text: &str) -> bool {
    text.strip_suffix(['-', '\u{2010}']).is_some_and(|word| word.ends_with(char::is_alphabetic))
}

impl OutputDev for PageText {
    fn begin_page(
        &mut self,
        _number: u32,
        _media_box: &MediaBox,
        _art_box: Option<(f64, f64, f64, f64)>,
    ) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn output_character(
        &mut self,
        place: &Transform,
        width: f64,
        spacing: f64,
        font_size: f64,
        letters: &str,
    ) -> Result<(), OutputError> {
        if self.is_full() {
            return Err(OutputError::FormatError(std::fmt::Error));
        }
        let scale = (place.m11 * place.m22 - place.m12 * place.m21).abs().sqrt();
        let size = (font_size * scale).abs();
        // Letters without a size are not seen; numbers without end are no place.
        if !size.is_normal() || !place.m31.is_finite() || !place.m32.is_finite() {
            return Ok(());
        }
        self.separate(place.m31, place.m32, size, letters.starts_with(char::is_lowercase));
        for letter in letters.chars() {
            self.push(letter);
        }
        let advance = (width * font_size + spacing) * scale;
        self.last = Some(End { x: place.m31 + advance, y: place.m32 });
        Ok(())
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws texts of size 10 at these places, each letter 5 wide.
    fn drawn(texts: &[(f64, f64, &str)]) -> String {
        let mut page = PageText::default();
        for (x, y, text) in texts {
            for (number, letter) in text.chars().enumerate() {
                let x = x + 5.0 * f64::from(u32::try_from(number).unwrap());
                let place = Transform::row_major(1.0, 0.0, 0.0, 1.0, x, *y);
                page.output_character(&place, 0.5, 0.0, 10.0, &letter.to_string()).unwrap();
            }
        }
        page.into_text()
    }

    #[test]
    fn words_lines_and_paragraphs_follow_from_the_places_of_letters() {
        let kerned = [(0.0, 100.0, "K"), (5.9, 100.0, "ettle"), (33.4, 100.0, "K-200")];
        assert_eq!(drawn(&kerned), "Kettle K-200", "a gap of 0.09 is kerning, one of 0.25 a space");
        assert_eq!(drawn(&[(0.0, 100.0, "One."), (0.0, 88.0, "Two."), (0.0, 60.0, "Three.")]), "One.\nTwo.\n\nThree.");
        assert_eq!(drawn(&[(0.0, 100.0, "m"), (5.0, 104.0, "2"), (12.5, 100.0, "area")]), "m2 area");
        assert_eq!(drawn(&[(0.0, 100.0, " a \u{a0} b "), (60.0, 100.0, "c")]), "a b c");
    }

    #[test]
    fn a_word_that_is_cut_at_the_end_of_a_line_is_whole_again() {
        assert_eq!(drawn(&[(0.0, 100.0, "descal-"), (0.0, 88.0, "ing")]), "descaling");
        assert_eq!(drawn(&[(0.0, 100.0, "K-"), (0.0, 88.0, "200")]), "K-\n200");
        assert_eq!(drawn(&[(0.0, 100.0, "so -"), (0.0, 88.0, "yes")]), "so -\nyes");
        assert_eq!(drawn(&[(0.0, 100.0, "o\u{fb03}ce \u{fb01}re so\u{ad}ft")]), "office fire soft");
    }

    #[test]
    fn letters_without_a_size_or_a_place_are_left_out() {
        let mut page = PageText::default();
        for (scale, x) in [(0.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY), (f64::MAX, 1.0)] {
            let place = Transform::row_major(scale, 0.0, 0.0, scale, x, 1.0);
            page.output_character(&place, 0.5, 0.0, 10.0, "x").unwrap();
        }
        page.output_character(&Transform::row_major(0.0, 1.0, -1.0, 0.0, 1.0, 1.0), 0.5, 0.0, 10.0, "\0turned\u{7}")
            .unwrap();
        assert_eq!(page.into_text(), "turned");
    }
}
