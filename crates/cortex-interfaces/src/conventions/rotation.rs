//! Rotations as angles in degrees.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::position;
use crate::native::edit::{MessageMut, Target};
use crate::native::view::{MessageView, Values};
use crate::read::{Any, Context, Found, Given, KeyVisitor, Reader, Step, number};

/// The angles, in the order of [`Angles`].
pub(crate) const ANGLES: [&str; 3] = ["yaw_deg", "pitch_deg", "roll_deg"];
/// The parts of a quaternion.
const PARTS: [&str; 4] = ["x", "y", "z", "w"];
/// How far the length of a quaternion may be from 1. Further off it was not meant as a rotation.
const LENGTH_TOLERANCE: f64 = 0.01;
/// Angles that are smaller are not shown: the arithmetic leaves them behind.
const SMALLEST_SHOWN_DEG: f64 = 1e-4;
/// Digits after the point that are shown.
const SHOWN: f64 = 1e6;

/// About the vertical axis, then the lateral one, then the longitudinal one (`Z-Y'-X''`), in degrees.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Angles {
    yaw_deg: f64,
    pitch_deg: f64,
    roll_deg: f64,
}

/// A rotation as ROS writes it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Quaternion {
    x: f64,
    y: f64,
    z: f64,
    w: f64,
}

impl From<Angles> for Quaternion {
    fn from(angles: Angles) -> Self {
        let (sin_yaw, cos_yaw) = (angles.yaw_deg.to_radians() / 2.0).sin_cos();
        let (sin_pitch, cos_pitch) = (angles.pitch_deg.to_radians() / 2.0).sin_cos();
        let (sin_roll, cos_roll) = (angles.roll_deg.to_radians() / 2.0).sin_cos();
        Self {
            x: sin_roll * cos_pitch * cos_yaw - cos_roll * sin_pitch * sin_yaw,
            y: cos_roll * sin_pitch * cos_yaw + sin_roll * cos_pitch * sin_yaw,
            z: cos_roll * cos_pitch * sin_yaw - sin_roll * sin_pitch * cos_yaw,
            w: cos_roll * cos_pitch * cos_yaw + sin_roll * sin_pitch * sin_yaw,
        }
    }
}

impl Quaternion {
    fn length(self) -> f64 {
        (self.x * self.x + self.y * self.y + self.z * self.z + self.w * self.w).sqrt()
    }

    fn is_rotation(self) -> bool {
        (self.length() - 1.0).abs() <= LENGTH_TOLERANCE
    }

    fn angles(self) -> Angles {
        let Self { x, y, z, w } = self;
        Angles {
            yaw_deg: (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z)).to_degrees(),
            pitch_deg: (2.0 * (w * y - z * x)).clamp(-1.0, 1.0).asin().to_degrees(),
            roll_deg: (2.0 * (w * x + y * z)).atan2(1.0 - 2.0 * (x * x + y * y)).to_degrees(),
        }
    }
}

/// Reads a rotation from angles or from the parts of a quaternion.
pub(super) fn read<'de, A: MapAccess<'de>>(
    mut object: A,
    mut message: MessageMut<'_>,
    context: &mut Context<'_>,
) -> Result<Given, A::Error> {
    let mut angles: [Option<f64>; 3] = [None; 3];
    let mut parts: [Option<f64>; 4] = [None; 4];
    while let Some(key) = object.next_key_seed(RotationKey)? {
        let place = match key {
            Key::Angle(index) => angles.get_mut(index).map(|place| (place, ANGLES.get(index))),
            Key::Part(index) => parts.get_mut(index).map(|place| (place, PARTS.get(index))),
            Key::Unknown => None,
        };
        let Some((place, Some(name))) = place else {
            object.next_value::<IgnoredAny>()?;
            let problem = format!("expected {}, or x, y, z and w", ANGLES.join(", "));
            context.problem(problem).map_err(A::Error::custom)?;
            continue;
        };
        context.enter(Step::Part(name));
        object.next_value_seed(Any(AngleReader { place, context }))?;
        context.leave();
    }
    let has_angles = angles.iter().any(Option::is_some);
    let has_parts = parts.iter().any(Option::is_some);
    let quaternion = if has_parts {
        let [x, y, z, w] = parts;
        // The defaults of the interface.
        Quaternion { x: x.unwrap_or(0.0), y: y.unwrap_or(0.0), z: z.unwrap_or(0.0), w: w.unwrap_or(1.0) }
    } else {
        let [yaw_deg, pitch_deg, roll_deg] = angles.map(Option::unwrap_or_default);
        Angles { yaw_deg, pitch_deg, roll_deg }.into()
    };
    let problem = if has_angles && has_parts {
        "expected either angles or x, y, z and w, got both".to_owned()
    } else if !quaternion.is_rotation() {
        format!("expected x, y, z and w of length 1, got {:.3}", quaternion.length())
    } else {
        set(&mut message, quaternion);
        return Ok(Given::Value);
    };
    context.problem(problem).map_err(A::Error::custom)?;
    Ok(Given::Value)
}

enum Key {
    Angle(usize),
    Part(usize),
    Unknown,
}

struct RotationKey;

impl<'de> DeserializeSeed<'de> for RotationKey {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_identifier(KeyVisitor(|key: &str| {
            let angle = ANGLES.iter().position(|name| *name == key).map(Key::Angle);
            angle.or_else(|| PARTS.iter().position(|name| *name == key).map(Key::Part)).unwrap_or(Key::Unknown)
        }))
    }
}

/// Takes a finite number.
struct AngleReader<'c, 'o, 'p> {
    place: &'p mut Option<f64>,
    context: &'c mut Context<'o>,
}

impl<'de> Reader<'de> for AngleReader<'_, '_, '_> {
    fn scalar<E: Error>(self, found: Found<'_>) -> Result<Given, E> {
        match number(found).filter(|number| number.is_finite()) {
            Some(number) => *self.place = Some(number),
            None => self.context.problem(format!("expected a number, got {found}")).map_err(E::custom)?,
        }
        Ok(Given::Value)
    }
}

fn set(message: &mut MessageMut<'_>, quaternion: Quaternion) {
    let values = [quaternion.x, quaternion.y, quaternion.z, quaternion.w];
    for (name, value) in PARTS.into_iter().zip(values) {
        if let Some(index) = position(message.message_type(), name)
            && let Some(Target::Float64(mut slots)) = message.target(index)
            && let Some(place) = slots.next()
        {
            *place = value;
        }
    }
}

/// A rotation, to be written: as angles, or part by part if it is none.
pub(crate) struct Rotation(Quaternion);

impl Rotation {
    pub(crate) fn get(message: MessageView<'_>) -> Option<Self> {
        let part = |name: &str| match message.values(position(message.message_type(), name)?)? {
            Values::Float64([value]) => Some(*value),
            _ => None,
        };
        let quaternion = Quaternion { x: part("x")?, y: part("y")?, z: part("z")?, w: part("w")? };
        // What is no rotation is shown as it is.
        quaternion.is_rotation().then_some(Self(quaternion))
    }
}

impl Serialize for Rotation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let angles = self.0.angles();
        let mut map = serializer.serialize_map(None)?;
        let [yaw, pitch, roll] = ANGLES;
        map.serialize_entry(yaw, &rounded(angles.yaw_deg))?;
        for (name, angle) in [(pitch, angles.pitch_deg), (roll, angles.roll_deg)] {
            if angle.abs() >= SMALLEST_SHOWN_DEG {
                map.serialize_entry(name, &rounded(angle))?;
            }
        }
        map.end()
    }
}

fn rounded(angle_deg: f64) -> f64 {
    // Adding zero makes a negative zero a plain one.
    (angle_deg * SHOWN).round() / SHOWN + 0.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn shown(angles: Angles) -> serde_json::Value {
        serde_json::to_value(Rotation(angles.into())).unwrap()
    }

    #[test]
    fn a_flat_rotation_is_its_yaw() {
        let yaw = |yaw_deg| shown(Angles { yaw_deg, ..Angles::default() });
        assert_eq!(yaw(0.0), json!({"yaw_deg": 0.0}));
        assert_eq!(yaw(90.0), json!({"yaw_deg": 90.0}));
        assert_eq!(yaw(-450.0), json!({"yaw_deg": -90.0}));
        assert_eq!(
            shown(Angles { yaw_deg: 10.0, pitch_deg: 20.0, roll_deg: -30.0 }),
            json!({"yaw_deg": 10.0, "pitch_deg": 20.0, "roll_deg": -30.0})
        );
    }

    #[test]
    fn ninety_degrees_to_the_left_are_what_ros_calls_so() {
        let quaternion = Quaternion::from(Angles { yaw_deg: 90.0, ..Angles::default() });
        let half = std::f64::consts::FRAC_1_SQRT_2;
        assert!((quaternion.z - half).abs() < 1e-12 && (quaternion.w - half).abs() < 1e-12);
        assert_eq!((quaternion.x, quaternion.y), (0.0, 0.0));
    }

    proptest! {
        #[test]
        fn angles_survive(yaw_deg in -179.0..179.0, pitch_deg in -89.0..89.0, roll_deg in -179.0..179.0) {
            let angles = Quaternion::from(Angles { yaw_deg, pitch_deg, roll_deg }).angles();
            prop_assert!((angles.yaw_deg - yaw_deg).abs() < 1e-6);
            prop_assert!((angles.pitch_deg - pitch_deg).abs() < 1e-6);
            prop_assert!((angles.roll_deg - roll_deg).abs() < 1e-6);
        }
    }
}
