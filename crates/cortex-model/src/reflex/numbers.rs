//! Numbers and units, in digits and in words.

use super::tokens::{Kind, Token};

/// What a unit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dimension {
    Length,
    Time,
    Angle,
    Speed,
    TurnRate,
    Frequency,
    Mass,
    Temperature,
    Share,
}

/// A unit: what it measures, and how many of the dimension's base unit it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    pub(super) dimension: Dimension,
    pub(super) factor: f64,
    /// For people.
    pub(super) label: &'static str,
}

/// A number as it was said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Said {
    pub(super) value: f64,
    pub(super) unit: Option<Unit>,
    /// How many tokens it takes.
    pub(super) length: usize,
}

const KM_PER_HOUR: f64 = 1.0 / 3.6;
const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// The unit that a word or an abbreviation names, also as the ending of a parameter's name (`speed_mps`).
pub(super) fn unit(word: &str) -> Option<Unit> {
    let (dimension, factor, label) = match word {
        "m" | "meter" | "meters" | "metre" | "metres" => (Dimension::Length, 1.0, "m"),
        "cm" | "centimeter" | "centimeters" | "centimetre" | "centimetres" => (Dimension::Length, 0.01, "cm"),
        "mm" | "millimeter" | "millimeters" | "millimetre" | "millimetres" => (Dimension::Length, 0.001, "mm"),
        "km" | "kilometer" | "kilometers" | "kilometre" | "kilometres" => (Dimension::Length, 1_000.0, "km"),
        "s" | "sec" | "secs" | "second" | "seconds" => (Dimension::Time, 1.0, "s"),
        "ms" | "millisecond" | "milliseconds" => (Dimension::Time, 0.001, "ms"),
        "min" | "mins" | "minute" | "minutes" => (Dimension::Time, 60.0, "min"),
        "h" | "hour" | "hours" => (Dimension::Time, 3_600.0, "h"),
        "rad" | "radian" | "radians" => (Dimension::Angle, 1.0, "rad"),
        "deg" | "degree" | "degrees" => (Dimension::Angle, DEGREE, "degrees"),
        "mps" | "m/s" => (Dimension::Speed, 1.0, "m/s"),
        "kmh" | "kph" | "km/h" => (Dimension::Speed, KM_PER_HOUR, "km/h"),
        "radps" | "rad/s" => (Dimension::TurnRate, 1.0, "rad/s"),
        "degps" | "deg/s" => (Dimension::TurnRate, DEGREE, "degrees/s"),
        "hz" | "hertz" => (Dimension::Frequency, 1.0, "Hz"),
        "kg" | "kilogram" | "kilograms" => (Dimension::Mass, 1.0, "kg"),
        "g" | "gram" | "grams" => (Dimension::Mass, 0.001, "g"),
        "celsius" => (Dimension::Temperature, 1.0, "°C"),
        "percent" | "pct" => (Dimension::Share, 1.0, "%"),
        _ => return None,
    };
    Some(Unit { dimension, factor, label })
}

/// The number that begins at this token, with its unit.
pub(super) fn read(tokens: &[Token]) -> Option<Said> {
    let sign_words = usize::from(tokens.first().is_some_and(|first| first.is("minus") || first.is("negative")));
    let unsigned = tokens.get(sign_words..)?;
    let (value, length) = read_value(unsigned)?;
    let value = if sign_words > 0 { -value } else { value };
    let (unit, unit_length) = read_unit(unsigned.get(length..).unwrap_or_default());
    Some(Said { value, unit, length: sign_words + length + unit_length })
}

fn read_value(tokens: &[Token]) -> Option<(f64, usize)> {
    let first = tokens.first()?;
    if first.kind == Kind::Number {
        return first.word.parse().ok().filter(|value: &f64| value.is_finite()).map(|value| (value, 1));
    }
    if first.is("half") {
        let article = tokens.get(1).is_some_and(|next| next.is("a") || next.is("an"));
        return Some((0.5, 1 + usize::from(article)));
    }
    if first.is("a") && tokens.get(1).is_some_and(|next| next.is("half") || next.is("quarter")) {
        return Some((if tokens.get(1).is_some_and(|next| next.is("half")) { 0.5 } else { 0.25 }, 2));
    }
    let (whole, mut length) = read_words(tokens)?;
    let mut value = f64::from(whole);
    if tokens.get(length).is_some_and(|next| next.is("point")) {
        let mut scale = 0.1;
        let mut after = length + 1;
        while let Some(digit) = tokens.get(after).and_then(small).filter(|digit| *digit < 10) {
            value += f64::from(digit) * scale;
            scale /= 10.0;
            after += 1;
        }
        if after > length + 1 {
            length = after;
        }
    }
    Some(((value * 1e9).round() / 1e9, length))
}

/// `twenty five`, `two hundred and ten` without the `and`.
fn read_words(tokens: &[Token]) -> Option<(u32, usize)> {
    let mut total = tokens.first().and_then(small).or_else(|| tokens.first().and_then(tens))?;
    let mut length = 1;
    let ones = |at: usize| tokens.get(at).and_then(small).filter(|ones| (1..10).contains(ones));
    if tokens.first().and_then(tens).is_some()
        && let Some(ones) = ones(1)
    {
        total += ones;
        length = 2;
    }
    if tokens.get(length).is_some_and(|next| next.is("hundred")) {
        total *= 100;
        length += 1;
        let rest = tokens.get(length..).unwrap_or_default();
        if let Some(more) = rest.first().and_then(tens) {
            total += more;
            length += 1;
            if let Some(ones) = ones(length) {
                total += ones;
                length += 1;
            }
        } else if let Some(more) = rest.first().and_then(small) {
            total += more;
            length += 1;
        }
    }
    Some((total, length))
}

fn small(token: &Token) -> Option<u32> {
    const WORDS: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    let index = WORDS.iter().position(|word| token.is(word))?;
    u32::try_from(index).ok()
}

fn tens(token: &Token) -> Option<u32> {
    const WORDS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let index = WORDS.iter().position(|word| token.is(word))?;
    u32::try_from(index).ok().map(|index| (index + 2) * 10)
}

fn read_unit(tokens: &[Token]) -> (Option<Unit>, usize) {
    let Some(first) = tokens.first().filter(|first| first.kind == Kind::Word).and_then(|first| unit(&first.word))
    else {
        return (None, 0);
    };
    let per = tokens.get(1).is_some_and(|next| next.is("per") || next.is("an"));
    let Some(second) = tokens.get(2).filter(|_| per).and_then(|second| unit(&second.word)) else {
        let celsius = tokens.get(1).is_some_and(|next| next.is("celsius"));
        return if celsius { (unit("celsius"), 2) } else { (Some(first), 1) };
    };
    match rate(first, second) {
        Some(rate) => (Some(rate), 3),
        None => (Some(first), 1),
    }
}

/// The unit of so much per time.
pub(super) fn rate(first: Unit, second: Unit) -> Option<Unit> {
    let factor = first.factor / second.factor;
    let (dimension, label) = match (first.dimension, second.dimension) {
        (Dimension::Length, Dimension::Time) => (Dimension::Speed, "m/s"),
        (Dimension::Angle, Dimension::Time) => (Dimension::TurnRate, "rad/s"),
        _ => return None,
    };
    // A label only for the base unit; anything else is told in its parts.
    let label = if (factor - 1.0).abs() < f64::EPSILON { label } else { first.label };
    Some(Unit { dimension, factor, label })
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn said(text: &str) -> Option<(f64, usize)> {
        let tokens = tokens(text).unwrap();
        let said = read(&tokens)?;
        let value = said.value * said.unit.map_or(1.0, |unit| unit.factor);
        Some(((value * 1e6).round() / 1e6, said.length))
    }

    #[test]
    fn numbers_are_read_in_digits_and_in_words() {
        for (text, expected) in [
            ("0.5", Some((0.5, 1))),
            ("-2 degrees", Some((-0.034_907, 2))),
            ("minus two", Some((-2.0, 2))),
            ("twenty five percent", Some((25.0, 3))),
            ("two hundred ten", Some((210.0, 3))),
            ("one point five meters per second", Some((1.5, 6))),
            ("3.6 km/h", Some((1.0, 2))),
            ("50 cm", Some((0.5, 2))),
            ("half a meter", Some((0.5, 3))),
            ("a quarter", Some((0.25, 2))),
            ("50%", Some((50.0, 2))),
            ("5 minutes", Some((300.0, 2))),
            ("many", None),
            ("kitchen", None),
        ] {
            assert_eq!(said(text), expected, "{text}");
        }
    }
}
