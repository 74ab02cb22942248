//! Numbers and units, in digits and in words.

use crate::language::Language;
use crate::sentence::Word;
use crate::tokens::Kind;

/// The dimension of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dimension {
    Length,
    Time,
    Angle,
    Speed,
    TurnRate,
    Frequency,
    Mass,
    Volume,
    Temperature,
    Pressure,
    Force,
    Rotation,
    Share,
}

/// A unit: what it measures, and how many of the dimension's base unit it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    pub(crate) dimension: Dimension,
    pub(crate) factor: f64,
    /// For people.
    pub(crate) label: &'static str,
}

/// A number as it was said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Said {
    pub(crate) value: f64,
    pub(crate) unit: Option<Unit>,
    /// Number of words.
    pub(crate) length: usize,
    /// True if it was said as a place in a row: the third.
    pub(crate) is_ordinal: bool,
}

const KM_PER_HOUR: f64 = 1.0 / 3.6;
const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// The unit that a word or an abbreviation names, also as the ending of a parameter's name (`speed_mps`).
pub(crate) fn unit(word: &str) -> Option<Unit> {
    let (dimension, factor, label) = match word {
        "m" | "meter" | "meters" | "metre" | "metres" => (Dimension::Length, 1.0, "m"),
        "cm" | "centimeter" | "centimeters" | "centimetre" | "centimetres" | "centi" | "centis" => {
            (Dimension::Length, 0.01, "cm")
        }
        "mm" | "millimeter" | "millimeters" | "millimetre" | "millimetres" | "mil" | "mils" | "mill" | "mills" => {
            (Dimension::Length, 0.001, "mm")
        }
        "km" | "kilometer" | "kilometers" | "kilometre" | "kilometres" => (Dimension::Length, 1_000.0, "km"),
        "um" | "micron" | "microns" | "micrometer" | "micrometers" | "micrometre" => (Dimension::Length, 1e-6, "um"),
        "s" | "sec" | "secs" | "second" | "seconds" => (Dimension::Time, 1.0, "s"),
        "ms" | "millisecond" | "milliseconds" => (Dimension::Time, 0.001, "ms"),
        "min" | "mins" | "minute" | "minutes" => (Dimension::Time, 60.0, "min"),
        "h" | "hour" | "hours" | "hrs" => (Dimension::Time, 3_600.0, "h"),
        "rad" | "radian" | "radians" => (Dimension::Angle, 1.0, "rad"),
        "deg" | "degree" | "degrees" => (Dimension::Angle, DEGREE, "degrees"),
        "turn" | "turns" | "revolution" | "revolutions" | "circle" => {
            (Dimension::Angle, std::f64::consts::TAU, "full turns")
        }
        "mps" | "m/s" => (Dimension::Speed, 1.0, "m/s"),
        "kmh" | "kph" | "km/h" => (Dimension::Speed, KM_PER_HOUR, "km/h"),
        "radps" | "rad/s" => (Dimension::TurnRate, 1.0, "rad/s"),
        "degps" | "deg/s" => (Dimension::TurnRate, DEGREE, "degrees/s"),
        "hz" | "hertz" => (Dimension::Frequency, 1.0, "Hz"),
        "rpm" => (Dimension::Rotation, 1.0, "rpm"),
        "kg" | "kilogram" | "kilograms" | "kilo" | "kilos" | "kgs" => (Dimension::Mass, 1.0, "kg"),
        "g" | "gram" | "grams" | "gramme" | "grammes" => (Dimension::Mass, 0.001, "g"),
        "mg" | "milligram" | "milligrams" => (Dimension::Mass, 1e-6, "mg"),
        "tonne" | "tonnes" | "ton" | "tons" => (Dimension::Mass, 1_000.0, "t"),
        "l" | "liter" | "liters" | "litre" | "litres" => (Dimension::Volume, 1.0, "l"),
        "ml" | "milliliter" | "milliliters" | "millilitre" | "millilitres" => (Dimension::Volume, 1e-3, "ml"),
        "ul" | "µl" | "μl" | "microliter" | "microliters" | "microlitre" | "microlitres" => {
            (Dimension::Volume, 1e-6, "ul")
        }
        "celsius" | "centigrade" | "degc" => (Dimension::Temperature, 1.0, "°C"),
        "bar" | "bars" => (Dimension::Pressure, 1.0, "bar"),
        "newton" | "newtons" => (Dimension::Force, 1.0, "N"),
        "percent" | "pct" | "percentage" => (Dimension::Share, 1.0, "%"),
        _ => return None,
    };
    Some(Unit { dimension, factor, label })
}

/// Returns true if the word may be a part of a number or of its unit, though it is no number itself.
pub(crate) fn may_say(word: &str) -> bool {
    matches!(word, "minus" | "negative" | "positive" | "half" | "quarter" | "couple" | "point" | "per" | "celsius")
        || unit(word).is_some()
}

/// The number that begins with this word, with its unit.
pub(crate) fn read(words: &[Word], language: &Language) -> Option<Said> {
    let counting = &language.facts.counting;
    let sign_words = counting.minus.length(words).min(1);
    let unsigned = words.get(sign_words..)?;
    let (value, length) = read_value(unsigned, language)?;
    let value = if sign_words > 0 { -value } else { value };
    let rest = unsigned.get(length..).unwrap_or_default();
    let (unit, unit_length) = read_unit(rest, language);
    // "Two and a half minutes", "half a minute more" are read with their unit; "one minute and a half" after it.
    let half = counting.half_more.length(rest.get(unit_length..).unwrap_or_default());
    let half = if unit_length > 0 { half } else { 0 };
    let value = if half > 0 { value + 0.5 } else { value };
    let seconds = unit.filter(|unit| unit.label == "min").and_then(|_| {
        let after = rest.get(unit_length..)?;
        let joint = usize::from(after.first().is_some_and(|next| counting.joint.has(&next.text)));
        let (seconds, taken) = read_value(after.get(joint..)?, language)?;
        let (second, more) = read_unit(after.get(joint + taken..)?, language);
        (second?.label == "s").then_some((seconds, joint + taken + more))
    });
    let (value, extra) = match seconds {
        Some((seconds, extra)) => (value + seconds / 60.0, extra),
        None => (value, half),
    };
    Some(Said { value, unit, length: sign_words + length + unit_length + extra, is_ordinal: false })
}

fn read_value(words: &[Word], language: &Language) -> Option<(f64, usize)> {
    let first = words.first()?;
    let counting = &language.facts.counting;
    if let Some(part) = language.part(words) {
        return Some(part);
    }
    // "A hundred", "a dozen".
    if counting.one.has(&first.text) && words.get(1).is_some_and(|next| next.number.is_some_and(|it| it >= 12.0)) {
        let (value, length) = read_value(words.get(1..)?, language)?;
        return Some((value, length + 1));
    }
    let is_time = |next: &Word| language.unit(&next.text).is_some_and(|unit| unit.dimension == Dimension::Time);
    // "A minute", and "a kilo and a half", which is no half of one.
    let goes_on = counting.half_more.length(words.get(2..).unwrap_or_default()) > 0;
    let is_unit = |next: &Word| is_time(next) || goes_on && language.unit(&next.text).is_some();
    if counting.single.has(&first.text) && words.get(1).is_some_and(is_unit) {
        return Some((1.0, 1));
    }
    let (mut value, mut length) = read_words(words, language)?;
    if words.get(length).is_some_and(|next| counting.point.has(&next.text)) {
        let mut scale = 0.1;
        let mut after = length + 1;
        while let Some(digit) = words.get(after).and_then(|it| it.number).filter(|digit| (0.0..10.0).contains(digit)) {
            value += digit * scale;
            scale /= 10.0;
            after += 1;
        }
        if after > length + 1 {
            length = after;
        }
    } else {
        let half = counting.half_more.length(words.get(length..).unwrap_or_default());
        value += if half > 0 { 0.5 } else { 0.0 };
        length += half;
    }
    Some(((value * 1e9).round() / 1e9, length))
}

/// A number of which only the words that say it are taken.
pub(crate) fn read_plain(words: &[Word], language: &Language) -> Option<(f64, usize)> {
    read_words(words, language)
}

/// `twenty five`, `two hundred and ten`, `one thousand five hundred`.
fn read_words(words: &[Word], language: &Language) -> Option<(f64, usize)> {
    let first = words.first()?;
    let mut total = first.number?;
    let mut length = 1;
    if first.kind == Kind::Number && !words.get(1).is_some_and(|next| is_word(next, 100.0) || is_word(next, 1_000.0)) {
        return Some((total, length));
    }
    let mut done = 0.0;
    let mut smallest = scale(total);
    while let Some(next) = words.get(length) {
        // The "and" of "two hundred and ten".
        let joint = usize::from(language.facts.counting.joint.has(&next.text) && total >= 100.0);
        let Some(next) = words.get(length + joint).filter(|next| next.kind == Kind::Word) else { break };
        let Some(number) = next.number else { break };
        if (is_word(next, 100.0) && total < 100.0 || is_word(next, 1_000.0) && total < 1_000.0) && joint == 0 {
            total *= number;
            if number >= 1_000.0 {
                done += total;
                total = 0.0;
            }
            smallest = number;
        } else if number > 0.0 && number < smallest && scale(number) < smallest && smallest > 1.0 {
            total += number;
            smallest = scale(number);
        } else {
            break;
        }
        length += joint + 1;
    }
    Some((done + total, length))
}

/// Returns true if the word says exactly this number.
fn is_word(word: &Word, number: f64) -> bool {
    word.kind == Kind::Word && word.number.is_some_and(|it| (it - number).abs() < f64::EPSILON)
}

/// The place of the last digit of a number word that is no zero: 20 for tens, 1 for ones.
fn scale(number: f64) -> f64 {
    if number >= 1_000.0 {
        1_000.0
    } else if number >= 100.0 {
        100.0
    } else if number >= 20.0 && number % 10.0 == 0.0 {
        10.0
    } else {
        1.0
    }
}

fn read_unit(words: &[Word], language: &Language) -> (Option<Unit>, usize) {
    let counting = &language.facts.counting;
    let Some(first) =
        words.first().filter(|first| first.kind == Kind::Word).and_then(|first| language.unit(&first.text))
    else {
        return (None, 0);
    };
    let per = words.get(1).is_some_and(|next| counting.per.has(&next.text));
    let Some(second) = words.get(2).filter(|_| per).and_then(|second| language.unit(&second.text)) else {
        let celsius = words.get(1).is_some_and(|next| counting.celsius.has(&next.text));
        return if celsius { (unit("celsius"), 2) } else { (Some(first), 1) };
    };
    match rate(first, second) {
        Some(rate) => (Some(rate), 3),
        None => (Some(first), 1),
    }
}

/// The unit of so much per time.
pub(crate) fn rate(first: Unit, second: Unit) -> Option<Unit> {
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
