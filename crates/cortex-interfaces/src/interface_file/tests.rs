use proptest::prelude::*;
use serde_json::json;

use super::*;

fn field(name: &str, description: &str, default: Option<&str>) -> FieldText {
    FieldText { name: name.to_owned(), description: description.to_owned(), default: default.map(str::to_owned) }
}

fn constant(name: &str, kind: FieldKind, value: Value, description: &str) -> Constant {
    Constant { name: name.to_owned(), kind, value, description: description.to_owned() }
}

#[test]
fn comments_above_on_and_below_a_field_are_its_description() {
    let text = "\
# One reading of a ranger.
#
# Not for laser scanners.

std_msgs/Header header # the time of the reading
                       # and its frame

# Radiation types, said of nothing in particular

uint8 SOUND=0 # a sonar
uint8 INFRARED = 0x1

# What is sent out
uint8\tradiation_type 1\t# see above
float32[<=3] ranges [1.0, 2.0]
";
    assert_eq!(
        parse(text),
        [Section {
            description: "One reading of a ranger. Not for laser scanners.".to_owned(),
            fields: vec![
                field("header", "the time of the reading and its frame", None),
                field("radiation_type", "What is sent out. see above", Some("1")),
                field("ranges", "", Some("[1.0, 2.0]")),
            ],
            constants: vec![
                constant("SOUND", FieldKind::Uint8, json!(0), "a sonar"),
                constant("INFRARED", FieldKind::Uint8, json!(1), ""),
            ],
        }]
    );
}

#[test]
fn a_first_block_without_an_empty_line_is_of_the_section_unless_other_fields_have_blocks_too() {
    let descriptions = |text: &str| {
        let section = parse(text).remove(0);
        (section.description, section.fields.into_iter().map(|field| field.description).collect::<Vec<_>>())
    };
    assert_eq!(
        descriptions("# A point in space\nfloat64 x\nfloat64 y\n"),
        ("A point in space".to_owned(), vec![String::new(), String::new()])
    );
    assert_eq!(
        descriptions("# Where to go\nPose pose\n# How fast, m/s\nfloat64 speed\n"),
        (String::new(), vec!["Where to go".to_owned(), "How fast, m/s".to_owned()])
    );
    assert_eq!(
        descriptions("# Speed in m/s\nfloat64 speed\n"),
        ("Speed in m/s".to_owned(), vec!["Speed in m/s".to_owned()])
    );
    assert_eq!(
        descriptions("# A map\nstd_msgs/Header header\n# Its cells\nint8[] data\n"),
        ("A map".to_owned(), vec![String::new(), "Its cells".to_owned()])
    );
}

#[test]
fn the_parts_of_a_service_and_an_action_are_sections() {
    let sections = parse("bool data # on or off\n---\nbool success   # whether it worked\n---\n");
    assert_eq!(
        sections.iter().map(|section| section.fields.clone()).collect::<Vec<_>>(),
        [vec![field("data", "on or off", None)], vec![field("success", "whether it worked", None)], vec![]]
    );
}

#[test]
fn constants_of_every_type_are_read_and_wrong_ones_passed_over() {
    let text = "\
bool B=true
byte Y=50
char C=100
float64 F=-1.125
int8 I=-50
uint64 U=18446744073709551615
string S=\"a \\\"b\\\"\"
string<=5 T='it''s'
wstring W=plain text
int8 TOO_BIG=128
bool MAYBE=perhaps
float32 NOT=nan
Pose P=1
uint8 bad-name=1
uint8 =3
int32 HUGE=170141183460469231731687303715884105728
";
    let section = parse(text).remove(0);
    assert_eq!(
        section.constants,
        [
            constant("B", FieldKind::Boolean, json!(true), ""),
            constant("Y", FieldKind::Byte, json!(50), ""),
            constant("C", FieldKind::Uint8, json!(100), ""),
            constant("F", FieldKind::Float64, json!(-1.125), ""),
            constant("I", FieldKind::Int8, json!(-50), ""),
            constant("U", FieldKind::Uint64, json!(u64::MAX), ""),
            constant("S", FieldKind::String { bound: None }, json!("a \"b\""), ""),
            constant("T", FieldKind::String { bound: None }, json!("it''s"), ""),
            constant("W", FieldKind::WideString { bound: None }, json!("plain text"), ""),
        ]
    );
}

#[test]
fn a_description_is_cut_where_it_is_too_long() {
    let section = parse(&format!("bool data # {}\n", "ä".repeat(1_000_000))).remove(0);
    assert_eq!(section.fields, [field("data", &format!("{}…", "ä".repeat(MAX_DESCRIPTION)), None)]);
}

#[test]
fn more_elements_than_anyone_writes_are_passed_over() {
    let section = parse(&"bool data\nbool B=1\n".repeat(100_000)).remove(0);
    assert_eq!(section.fields.len() + section.constants.len(), MAX_ELEMENTS);
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_fail(text in "([#=\\[\\]<>'\" \n\t\\-]|[a-zA-Z0-9_/]|uint8|---|\\PC){0,200}") {
        let sections = parse(&text);
        let separators = text.lines().filter(|line| line.trim_end() == "---").count();
        prop_assert_eq!(sections.len(), separators + 1);
    }
}
