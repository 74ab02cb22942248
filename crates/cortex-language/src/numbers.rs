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
    /// What the same word measures elsewhere: degrees of warmth, and "mils" of a liquid.
    also: Option<(Dimension, f64)>,
    /// The value of which the base unit counts from zero.
    zero: f64,
}

impl Unit {
    fn new(dimension: Dimension, factor: f64, label: &'static str) -> Self {
        Self { dimension, factor, label, also: None, zero: 0.0 }
    }

    fn meanings(self) -> impl Iterator<Item = (Dimension, f64)> {
        std::iter::once((self.dimension, self.factor)).chain(self.also)
    }

    /// The same amount in another unit; none where that measures something else.
    pub(crate) fn convert(self, value: f64, to: Self) -> Option<f64> {
        let (own, other) = self.meanings().find_map(|(dimension, factor)| {
            let (_, other) = to.meanings().find(|(measured, _)| *measured == dimension)?;
            Some((factor, other))
        })?;
        Some((value - self.zero) * own / other + to.zero)
    }

    /// Returns true if both measure the same.
    pub(crate) fn is_like(self, other: Self) -> bool {
        self.convert(0.0, other).is_some()
    }

    /// Returns true if it is none of the metric system.
    pub(crate) fn is_imperial(self) -> bool {
        matches!(self.label, "in" | "ft" | "yd" | "mi" | "lb" | "oz" | "gal" | "pt" | "mph" | "°F")
    }

    /// Returns true if countries differ in how much it is, so that a person has to be asked.
    pub(crate) fn is_ambiguous(self) -> bool {
        matches!(self.label, "gal" | "pt")
    }
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
        "mm" | "millimeter" | "millimeters" | "millimetre" | "millimetres" => (Dimension::Length, 0.001, "mm"),
        "mil" | "mils" | "mill" | "mills" => {
            let also = Some((Dimension::Volume, 1e-3));
            return Some(Unit { also, ..Unit::new(Dimension::Length, 0.001, "mm") });
        }
        "inch" => (Dimension::Length, 0.0254, "in"),
        "foot" => (Dimension::Length, 0.3048, "ft"),
        "yard" => (Dimension::Length, 0.9144, "yd"),
        "mile" => (Dimension::Length, 1_609.344, "mi"),
        "km" | "kilometer" | "kilometers" | "kilometre" | "kilometres" => (Dimension::Length, 1_000.0, "km"),
        "um" | "micron" | "microns" | "micrometer" | "micrometers" | "micrometre" => (Dimension::Length, 1e-6, "um"),
        "s" | "sec" | "secs" | "second" | "seconds" => (Dimension::Time, 1.0, "s"),
        "ms" | "millisecond" | "milliseconds" => (Dimension::Time, 0.001, "ms"),
        "min" | "mins" | "minute" | "minutes" => (Dimension::Time, 60.0, "min"),
        "h" | "hour" | "hours" | "hrs" => (Dimension::Time, 3_600.0, "h"),
        "rad" | "radian" | "radians" => (Dimension::Angle, 1.0, "rad"),
        "deg" | "degree" | "degrees" => {
            let also = Some((Dimension::Temperature, 1.0));
            return Some(Unit { also, ..Unit::new(Dimension::Angle, DEGREE, "degrees") });
        }
        "turn" | "turns" | "revolution" | "revolutions" | "circle" => {
            (Dimension::Angle, std::f64::consts::TAU, "full turns")
        }
        "mps" | "m/s" => (Dimension::Speed, 1.0, "m/s"),
        "kmh" | "kph" | "km/h" => (Dimension::Speed, KM_PER_HOUR, "km/h"),
        "mph" => (Dimension::Speed, 0.447_04, "mph"),
        "radps" | "rad/s" => (Dimension::TurnRate, 1.0, "rad/s"),
        "degps" | "deg/s" => (Dimension::TurnRate, DEGREE, "degrees/s"),
        "hz" | "hertz" => (Dimension::Frequency, 1.0, "Hz"),
        "rpm" => (Dimension::Rotation, 1.0, "rpm"),
        "kg" | "kilogram" | "kilograms" | "kilo" | "kilos" | "kgs" => (Dimension::Mass, 1.0, "kg"),
        "g" | "gram" | "grams" | "gramme" | "grammes" => (Dimension::Mass, 0.001, "g"),
        "mg" | "milligram" | "milligrams" => (Dimension::Mass, 1e-6, "mg"),
        "tonne" | "tonnes" | "ton" | "tons" => (Dimension::Mass, 1_000.0, "t"),
        "pound" => (Dimension::Mass, 0.453_592_37, "lb"),
        "ounce" => (Dimension::Mass, 0.028_349_523_125, "oz"),
        "gallon" => (Dimension::Volume, 4.546_09, "gal"),
        "pint" => (Dimension::Volume, 0.568_261_25, "pt"),
        "l" | "liter" | "liters" | "litre" | "litres" => (Dimension::Volume, 1.0, "l"),
        "ml" | "milliliter" | "milliliters" | "millilitre" | "millilitres" => (Dimension::Volume, 1e-3, "ml"),
        "ul" | "µl" | "μl" | "microliter" | "microliters" | "microlitre" | "microlitres" => {
            (Dimension::Volume, 1e-6, "ul")
        }
        "celsius" | "centigrade" | "degc" => (Dimension::Temperature, 1.0, "°C"),
        "fahrenheit" | "degf" => {
            return Some(Unit { zero: 32.0, ..Unit::new(Dimension::Temperature, 5.0 / 9.0, "°F") });
        }
        "bar" | "bars" => (Dimension::Pressure, 1.0, "bar"),
        "n" | "newton" | "newtons" => (Dimension::Force, 1.0, "N"),
        "percent" | "pct" | "percentage" => (Dimension::Share, 1.0, "%"),
        _ => return None,
    };
    Some(Unit::new(dimension, factor, label))
}

/// The unit with which the name of a parameter ends (`speed_mps`, `target_c`).
pub(crate) fn unit_of_name(ending: &str) -> Option<Unit> {
    unit(match ending {
        "c" => "celsius",
        "f" => "fahrenheit",
        other => other,
    })
}

/// The number that begins with this word, with its unit.
pub(crate) fn read(words: &[Word], language: &Language) -> Option<Said> {
    let counting = &language.facts.counting;
    let sign_words = counting.minus.length(words).min(1);
    let mut said = read_measure(words.get(sign_words..)?, language)?;
    if let Some(unit) = said.unit
        && let Some((more, length)) = read_more(words.get(sign_words + said.length..)?, unit, language)
    {
        said.value += more;
        said.length += length;
    }
    let value = if sign_words > 0 { -said.value } else { said.value };
    Some(Said { value: rounded(value), length: sign_words + said.length, ..said })
}

/// A number and its unit: "two and a half minutes", "a minute and a half", "three quarters of an hour".
fn read_measure(words: &[Word], language: &Language) -> Option<Said> {
    let fraction_of_unit = || {
        let (value, length) = language.fraction(words)?;
        let counting = &language.facts.counting;
        let rest = words.get(length..)?;
        let fillers = rest.iter().take_while(|word| counting.fillers.has(&word.text)).count();
        let articles = rest.iter().skip(fillers).take_while(|word| counting.single.has(&word.text)).count();
        let begin = length + fillers + articles;
        let (unit, length) = read_unit(words.get(begin..)?, language);
        unit.map(|unit| Said { value, unit: Some(unit), length: begin + length, is_ordinal: false })
    };
    if let Some(said) = fraction_of_unit() {
        return Some(said);
    }
    let (value, length) = read_value(words, language)?;
    let rest = words.get(length..).unwrap_or_default();
    let (unit, unit_length) = read_unit(rest, language);
    let (more, more_length) =
        if unit.is_some() { language.fraction_more(rest.get(unit_length..).unwrap_or_default()) } else { (0.0, 0) };
    Some(Said { value: value + more, unit, length: length + unit_length + more_length, is_ordinal: false })
}

/// What a smaller unit adds to a number in this one: "two minutes and thirty seconds", "one metre fifty".
fn read_more(words: &[Word], unit: Unit, language: &Language) -> Option<(f64, usize)> {
    let is_time = unit.dimension == Dimension::Time;
    let joint = usize::from(is_time && words.first().is_some_and(|next| language.facts.counting.joint.has(&next.text)));
    let (value, length) = read_value(words.get(joint..)?, language)?;
    let rest = words.get(joint + length..)?;
    let (smaller, unit_length) = read_unit(rest, language);
    let added = match smaller {
        Some(smaller) => {
            let is_smaller = smaller.dimension == unit.dimension && smaller.factor < unit.factor;
            is_smaller.then(|| smaller.convert(value, unit))??
        }
        None => {
            // Nothing else may be counted: "one metre fifty" ends here.
            let ends = rest.first().is_none_or(|next| next.kind == Kind::Mark || language.is_plain_role(&next.text));
            let parts = match unit.label {
                "m" => 100.0,
                "min" | "h" => 60.0,
                _ => return None,
            };
            (joint == 0 && ends && value >= 10.0 && value < parts).then_some(value / parts)?
        }
    };
    Some((added, joint + length + unit_length))
}

/// As precise as a number said by a person may be.
fn rounded(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
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
    if counting.single.has(&first.text) && words.get(1).is_some_and(|next| counts_one(next, words.get(2), language)) {
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
        let (more, more_length) = language.fraction_more(words.get(length..).unwrap_or_default());
        value += more;
        length += more_length;
    }
    Some((rounded(value), length))
}

/// Returns true if an article counts one of a unit: "a minute", "a metre and a half". "A second picture" counts none, nor
/// does "a yard gate".
fn counts_one(unit: &Word, after: Option<&Word>, language: &Language) -> bool {
    let Some(measure) = language.unit(&unit.text) else { return false };
    let measures = match measure.dimension {
        Dimension::Time => true,
        Dimension::Length | Dimension::Mass | Dimension::Volume => measure.label != "yd" && unit.text.len() > 2,
        _ => false,
    };
    let ends = after.is_none_or(|next| !language.is_content(&next.text) && next.number.is_none());
    measures && (unit.ordinal.is_none() || ends)
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
        // "Degrees Celsius", "degrees F".
        let scale = words.get(1).filter(|_| first.also.is_some_and(|(it, _)| it == Dimension::Temperature));
        let name = scale.and_then(|next| counting.scales.get(&next.text));
        return match name.and_then(|name| unit(name)) {
            Some(scale) => (Some(scale), 2),
            None => (Some(first), 1),
        };
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
    Some(Unit::new(dimension, factor, label))
}
