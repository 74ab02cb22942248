//! A task as words, numbers, quoted texts and marks. Every token knows where it stands in the task, so that free text
//! keeps the person's own spelling. Linear in the length of the task.

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Letters, also with digits in them.
    Word,
    /// Digits.
    Number,
    /// A text in quotation marks.
    Quoted,
    /// A punctuation mark or any other sign.
    Mark,
}

/// One token of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// In lower case; the text within the marks for [`Kind::Quoted`].
    pub(crate) word: String,
    /// Where it begins in the task, in bytes.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
}

/// A quotation mark without its partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unclosed;

/// Most tokens that are read; a longer task is better said in several.
pub const MAX_TOKENS: usize = 1_000;

/// The tokens of a task, one more than [`MAX_TOKENS`] at most.
///
/// # Errors
/// When a quotation is not closed: where it ends would be a guess.
pub(crate) fn tokens(task: &str) -> Result<Vec<Token>, Unclosed> {
    let mut reader = Reader { task, at: 0, tokens: Vec::new(), no_more_single_quotes: false };
    while reader.tokens.len() <= MAX_TOKENS
        && let Some(next) = reader.rest().chars().next()
    {
        reader.take(next)?;
    }
    Ok(reader.tokens)
}

/// A text as one word without anything but letters and digits: `living_room`, `Living Room` and `living-room` are one.
pub(crate) fn compact(text: &str) -> String {
    text.chars().filter(|next| next.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The words of a name: `go_to`, `goTo` and `go-to` are `go` and `to`.
pub fn name_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut before_is_lower = false;
    for next in name.chars() {
        let begins = !next.is_alphanumeric() || (next.is_uppercase() && before_is_lower);
        if begins {
            words.push(String::new());
        }
        if next.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(next.to_lowercase());
        }
        before_is_lower = next.is_lowercase() || next.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

struct Reader<'t> {
    task: &'t str,
    at: usize,
    tokens: Vec<Token>,
    /// So that each search for a closing mark that fails is the last one.
    no_more_single_quotes: bool,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.task.get(self.at..).unwrap_or_default()
    }

    fn take(&mut self, next: char) -> Result<(), Unclosed> {
        if let Some(close) = closing(next) {
            return self.take_quoted(next, close);
        }
        if matches!(next, '\'' | '‘') && self.take_single_quoted(next) {
            return Ok(());
        }
        if next.is_ascii_digit() || (next == '-' && self.begins_negative_number()) {
            self.take_number();
        } else if next.is_alphanumeric() {
            self.take_word();
        } else if next == '\n' {
            self.push(Kind::Mark, "\n".to_owned(), 1);
        } else if next.is_whitespace() || next.is_control() || is_invisible(next) {
            self.at += next.len_utf8();
        } else if matches!(next, '-' | '_') && self.joins_words() {
            self.at += 1;
        } else {
            let word = match next {
                '…' | '。' => ".".to_owned(),
                '，' | '–' | '—' => ",".to_owned(),
                '？' => "?".to_owned(),
                '！' => "!".to_owned(),
                other => other.to_string(),
            };
            match next {
                '%' => self.push(Kind::Word, "percent".to_owned(), 1),
                '°' => self.push(Kind::Word, "degrees".to_owned(), next.len_utf8()),
                _ => self.push(Kind::Mark, word, next.len_utf8()),
            }
        }
        Ok(())
    }

    fn push(&mut self, kind: Kind, word: String, length: usize) {
        self.tokens.push(Token { kind, word, start: self.at, end: self.at + length });
        self.at += length;
    }

    fn take_quoted(&mut self, open: char, close: char) -> Result<(), Unclosed> {
        let inner = self.rest().get(open.len_utf8()..).unwrap_or_default();
        let length = inner.find(close).ok_or(Unclosed)?;
        let text = inner.get(..length).unwrap_or_default().to_owned();
        self.push(Kind::Quoted, text, open.len_utf8() + length + close.len_utf8());
        Ok(())
    }

    /// A single quotation mark opens only where a word begins and if one closes where a word ends; else it is none.
    fn take_single_quoted(&mut self, open: char) -> bool {
        let before = self.task.get(..self.at).and_then(|before| before.chars().next_back());
        if self.no_more_single_quotes || before.is_some_and(char::is_alphanumeric) {
            return false;
        }
        let inner = self.rest().get(open.len_utf8()..).unwrap_or_default();
        let close = inner.match_indices(['\'', '’']).find(|(at, mark)| {
            let after = inner.get(at + mark.len()..).and_then(|after| after.chars().next());
            *at > 0 && !after.is_some_and(char::is_alphanumeric)
        });
        let Some((length, mark)) = close else {
            self.no_more_single_quotes = true;
            return false;
        };
        let text = inner.get(..length).unwrap_or_default().to_owned();
        self.push(Kind::Quoted, text, open.len_utf8() + length + mark.len());
        true
    }

    fn begins_negative_number(&self) -> bool {
        let before = self.task.get(..self.at).and_then(|before| before.chars().next_back());
        let after = self.rest().chars().nth(1);
        !before.is_some_and(char::is_alphanumeric) && after.is_some_and(|after| after.is_ascii_digit())
    }

    /// Returns true if the mark stands between two letters or digits, as in `living-room`.
    fn joins_words(&self) -> bool {
        let before = self.task.get(..self.at).and_then(|before| before.chars().next_back());
        let after = self.rest().chars().nth(1);
        before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric)
    }

    fn take_number(&mut self) {
        let rest = self.rest();
        let sign = usize::from(rest.starts_with('-'));
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let whole = sign + digits(rest.get(sign..).unwrap_or_default());
        let fraction = rest.get(whole..).and_then(|after| after.strip_prefix('.')).map_or(0, digits);
        let length = if fraction > 0 { whole + 1 + fraction } else { whole };
        let word = rest.get(..length).unwrap_or_default().to_owned();
        self.push(Kind::Number, word, length);
    }

    fn take_word(&mut self) {
        let rest = self.rest();
        let mut length = 0;
        let mut letters = rest.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            let after = letters.peek().map(|(_, after)| *after);
            // `don't` and `m/s` are one word each.
            let inner = matches!(letter, '\'' | '’' | '/') && after.is_some_and(char::is_alphabetic);
            if !letter.is_alphanumeric() && !inner && !is_combining(letter) {
                break;
            }
            length = at + letter.len_utf8();
        }
        let word: String = rest.get(..length).unwrap_or_default().to_lowercase().replace('’', "'");
        self.push(Kind::Word, word, length);
    }
}

fn closing(open: char) -> Option<char> {
    match open {
        '"' => Some('"'),
        '“' | '”' => Some('”'),
        '„' => Some('“'),
        '«' => Some('»'),
        '`' => Some('`'),
        '「' => Some('」'),
        _ => None,
    }
}

fn is_invisible(next: char) -> bool {
    matches!(next, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{fe0f}')
}

fn is_combining(next: char) -> bool {
    matches!(next, '\u{300}'..='\u{36f}')
}
