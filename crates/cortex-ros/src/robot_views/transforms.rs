//! How the frames of the robot lie to each other, as `/tf` and `/tf_static` tell. Pure: messages and moments in, answers out.
//!
//! Everything here is the robot's word: names, numbers and times are checked, and what is kept is bounded.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use thiserror::Error;

use super::rigid::Rigid;

/// Frames that are kept: far more than robots have.
const MOST_FRAMES: usize = 500;
/// Longest name of a frame, in bytes. Longer ones are refused, not cut: two of them would become one.
const NAME_BYTES: usize = 120;
/// Moments of one transform that are kept, and how far they lie apart at least: ten seconds.
const MOST_MOMENTS: usize = 128;
const APART_NS: i64 = 80_000_000;
/// What is older than the newest by more than this is forgotten. What comes with such a time is of a clock that was set
/// back, as when a simulation begins anew.
const KEPT_NS: i64 = 10_000_000_000;
/// A transform that has not come for so long says nothing of now.
const OLD: Duration = Duration::from_secs(5);
/// The usual names of the robot's own frame.
const BASE_FRAMES: [&str; 2] = ["base_link", "base_footprint"];

/// How one frame lies in another one, as it was sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link<'l> {
    pub(super) parent: &'l str,
    pub(super) child: &'l str,
    /// How the child lies in its parent.
    pub(super) lies: Rigid,
    pub(super) when: When,
}

/// When a transform holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// At all times.
    Always,
    /// At this time by the clock of the robot, in nanoseconds.
    At(i64),
}

/// Why a transform is not taken.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum Refusal {
    #[error("it does not name its frames")]
    Nameless,
    #[error("a frame does not lie in itself")]
    InItself,
    #[error("its numbers are none")]
    NotFinite,
    #[error("the robot has more than {MOST_FRAMES} frames")]
    TooMany,
}

/// Why it is not known how two frames lie to each other.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum Missing {
    #[error("no transform of the frame '{0}' has come on /tf or /tf_static")]
    Unknown(String),
    #[error("no chain of transforms joins the frames '{0}' and '{1}'")]
    Apart(String, String),
    #[error("the transforms above the frame '{0}' lie in a circle, with '{1}' in it")]
    Circle(String, String),
    #[error("the transform from '{parent}' to '{child}' is {seconds} s old")]
    Old { parent: String, child: String, seconds: u64 },
    #[error("the transform from '{parent}' to '{child}' is not known for the time of the others")]
    OtherTime { parent: String, child: String },
    #[error("the transforms between '{0}' and '{1}' lead beyond all numbers")]
    NotFinite(String, String),
}

/// The transforms of a robot, each at its latest moments.
#[derive(Debug, Default)]
pub(super) struct Transforms {
    /// By their child: a frame has one parent.
    links: BTreeMap<String, Known>,
}

#[derive(Debug)]
struct Known {
    parent: String,
    held: Held,
    came: Instant,
}

#[derive(Debug)]
enum Held {
    Always(Rigid),
    /// The latest last; never empty.
    Moments(VecDeque<(i64, Rigid)>),
}

/// The frames above a frame, itself first.
struct Way<'t> {
    frames: Vec<&'t str>,
    /// Where it comes back into itself, if it does.
    circle: Option<&'t str>,
}

impl Way<'_> {
    fn contains(&self, frame: &str) -> bool {
        self.frames.contains(&frame)
    }
}

impl Transforms {
    /// Takes in a transform that has just come.
    pub(super) fn take_in(&mut self, link: &Link<'_>, now: Instant) -> Result<(), Refusal> {
        let is_name = |name: &str| !name.is_empty() && name.len() <= NAME_BYTES;
        if !is_name(link.parent) || !is_name(link.child) {
            return Err(Refusal::Nameless);
        }
        if !link.lies.is_finite() {
            return Err(Refusal::NotFinite);
        }
        if link.parent == link.child {
            return Err(Refusal::InItself);
        }
        if let Some(known) = self.links.get_mut(link.child).filter(|known| known.parent == link.parent) {
            known.came = now;
            known.held.take_in(link.when, link.lies);
            return Ok(());
        }
        if self.links.len() >= MOST_FRAMES && !self.links.contains_key(link.child) {
            return Err(Refusal::TooMany);
        }
        let held = Held::of(link.when, link.lies);
        self.links.insert(link.child.to_owned(), Known { parent: link.parent.to_owned(), held, came: now });
        Ok(())
    }

    /// How `inner` lies in `outer`, at the latest time for which all transforms between them are known.
    pub(super) fn lies(&self, inner: &str, outer: &str, now: Instant) -> Result<Rigid, Missing> {
        if inner == outer {
            return Ok(Rigid::NONE);
        }
        for frame in [inner, outer] {
            if !self.has(frame) {
                return Err(Missing::Unknown(frame.to_owned()));
            }
        }
        let (above_inner, above_outer) = (self.upwards(inner), self.upwards(outer));
        let joint = match (above_inner.contains(outer), above_outer.contains(inner)) {
            (true, _) => outer,
            (false, true) => inner,
            // What lies in a circle lies nowhere.
            (false, false) => {
                let circle = |frame: &str, way: &Way<'_>| {
                    way.circle.map(|into| Missing::Circle(frame.to_owned(), into.to_owned()))
                };
                if let Some(circle) = circle(inner, &above_inner).or_else(|| circle(outer, &above_outer)) {
                    return Err(circle);
                }
                let apart = || Missing::Apart(inner.to_owned(), outer.to_owned());
                above_inner.frames.iter().copied().find(|frame| above_outer.contains(frame)).ok_or_else(apart)?
            }
        };
        let until = |way: &Way<'_>| -> Vec<String> {
            way.frames.iter().take_while(|frame| **frame != joint).map(|frame| (*frame).to_owned()).collect()
        };
        let (up, down) = (until(&above_inner), until(&above_outer));
        let latest = up.iter().chain(&down).filter_map(|child| self.links.get(child)?.held.latest()).min();
        let inner_in_joint = self.chain(&up, latest, now)?;
        let outer_in_joint = self.chain(&down, latest, now)?;
        let lies = outer_in_joint.inverse().then(inner_in_joint);
        lies.is_finite().then_some(lies).ok_or_else(|| Missing::NotFinite(inner.to_owned(), outer.to_owned()))
    }

    /// The frame of the robot itself, and the one at the root of its tree.
    pub(super) fn base(&self) -> Option<(&str, &str)> {
        let named = BASE_FRAMES.iter().find_map(|name| self.links.get_key_value(*name));
        // Of several robots with prefixes, none is the robot.
        let mut prefixed = self
            .links
            .iter()
            .filter(|(child, _)| child.rsplit_once('/').is_some_and(|(_, name)| name == BASE_FRAMES[0]));
        let only = || prefixed.next().filter(|_| prefixed.next().is_none());
        let (base, _) = named.or_else(only)?;
        Some((base, *self.upwards(base).frames.last()?))
    }

    fn has(&self, frame: &str) -> bool {
        self.links.contains_key(frame) || self.links.values().any(|known| known.parent == frame)
    }

    /// The frame, its parent, and so on, each once. As in tf2, whatever is sent last counts, and a circle harms only who
    /// has to go round in it: were a link refused that closes one, a wrong one that came first would keep out the right ones.
    fn upwards<'t>(&'t self, frame: &'t str) -> Way<'t> {
        let mut frames = vec![frame];
        let mut parent = self.links.get(frame);
        while let Some(next) = parent {
            let next = next.parent.as_str();
            if frames.contains(&next) {
                return Way { frames, circle: Some(next) };
            }
            frames.push(next);
            parent = self.links.get(next);
        }
        Way { frames, circle: None }
    }

    /// How the first of these frames lies in the parent of the last one.
    fn chain(&self, children: &[String], at_ns: Option<i64>, now: Instant) -> Result<Rigid, Missing> {
        let mut lies = Rigid::NONE;
        for child in children {
            let Some(known) = self.links.get(child) else { return Err(Missing::Unknown(child.clone())) };
            let (parent, child) = (known.parent.clone(), child.clone());
            let age = now.saturating_duration_since(known.came);
            if age > OLD && known.held.latest().is_some() {
                return Err(Missing::Old { parent, child, seconds: age.as_secs() });
            }
            let held = known.held.at(at_ns).ok_or(Missing::OtherTime { parent, child })?;
            lies = held.then(lies);
        }
        Ok(lies)
    }
}

impl Held {
    fn of(when: When, lies: Rigid) -> Self {
        match when {
            When::Always => Self::Always(lies),
            When::At(at_ns) => Self::Moments(VecDeque::from([(at_ns, lies)])),
        }
    }

    fn take_in(&mut self, when: When, lies: Rigid) {
        let (Self::Moments(moments), When::At(at_ns)) = (&mut *self, when) else {
            *self = Self::of(when, lies);
            return;
        };
        let newest = moments.back().map_or(i64::MIN, |(newest, _)| *newest);
        if newest.saturating_sub(at_ns) > KEPT_NS {
            moments.clear();
        } else if at_ns < newest {
            return;
        }
        // The newest one is replaced until it is far enough from the one before it, so that many a second last as long.
        let before = moments.len().checked_sub(2).and_then(|at| moments.get(at)).map(|(before, _)| *before);
        if at_ns == newest || before.is_some_and(|before| newest.saturating_sub(before) < APART_NS) {
            moments.pop_back();
        }
        moments.push_back((at_ns, lies));
        while moments.len() > MOST_MOMENTS
            || moments.front().is_some_and(|(oldest, _)| at_ns.saturating_sub(*oldest) > KEPT_NS)
        {
            moments.pop_front();
        }
    }

    /// The latest time that it is known for; none where it is known for all.
    fn latest(&self) -> Option<i64> {
        match self {
            Self::Always(_) => None,
            Self::Moments(moments) => moments.back().map(|(at, _)| *at),
        }
    }

    fn at(&self, wanted_ns: Option<i64>) -> Option<Rigid> {
        let moments = match self {
            Self::Always(lies) => return Some(*lies),
            Self::Moments(moments) => moments,
        };
        let wanted_ns = wanted_ns?;
        let after = moments.partition_point(|(at, _)| *at < wanted_ns);
        let (later_ns, later) = *moments.get(after)?;
        if later_ns == wanted_ns {
            return Some(later);
        }
        let (before_ns, before) = *moments.get(after.checked_sub(1)?)?;
        let nanoseconds =
            |from: i64, to: i64| Duration::from_nanos(to.saturating_sub(from).unsigned_abs()).as_secs_f64();
        let share = nanoseconds(before_ns, wanted_ns) / nanoseconds(before_ns, later_ns);
        Some(before.between(later, share))
    }
}

#[cfg(test)]
mod tests {
    use super::super::rigid::Rotation;
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn at(x: f64) -> Rigid {
        Rigid { position: [x, 0.0, 0.0], rotation: Rotation::NONE }
    }

    fn link<'l>(parent: &'l str, child: &'l str, x: f64, when: When) -> Link<'l> {
        Link { parent, child, lies: at(x), when }
    }

    fn robot(now: Instant) -> Transforms {
        let mut transforms = Transforms::default();
        for (parent, child, x, when) in [
            ("map", "odom", 10.0, When::At(SECOND)),
            ("odom", "base_link", 1.0, When::At(SECOND)),
            ("base_link", "camera", 0.5, When::Always),
            ("other_map", "other_robot", 1.0, When::At(SECOND)),
        ] {
            transforms.take_in(&link(parent, child, x, when), now).unwrap();
        }
        transforms
    }

    fn x(transforms: &Transforms, inner: &str, outer: &str, now: Instant) -> f64 {
        transforms.lies(inner, outer, now).unwrap().position[0]
    }

    #[test]
    fn a_chain_is_followed_up_down_and_across() {
        let now = Instant::now();
        let mut transforms = robot(now);
        assert_eq!(x(&transforms, "camera", "map", now), 11.5);
        assert_eq!(x(&transforms, "map", "camera", now), -11.5);
        assert_eq!(x(&transforms, "map", "map", now), 0.0);
        assert_eq!(x(&transforms, "nothing", "nothing", now), 0.0, "a frame lies in itself");
        transforms.take_in(&link("base_link", "arm", 2.0, When::Always), now).unwrap();
        assert_eq!(x(&transforms, "camera", "arm", now), -1.5);
        assert_eq!(transforms.base(), Some(("base_link", "map")));
    }

    #[test]
    fn what_is_not_known_is_named() {
        let now = Instant::now();
        let transforms = robot(now);
        assert_eq!(transforms.lies("lidar", "map", now), Err(Missing::Unknown("lidar".to_owned())));
        let apart = Missing::Apart("camera".to_owned(), "other_map".to_owned());
        assert_eq!(transforms.lies("camera", "other_map", now), Err(apart));
        assert_eq!(Transforms::default().base(), None);
    }

    #[test]
    fn a_transform_that_comes_no_more_is_old_and_one_that_holds_always_is_not() {
        let now = Instant::now();
        let mut transforms = robot(now);
        let later = now + OLD + Duration::from_secs(1);
        let old = Missing::Old { parent: "odom".to_owned(), child: "base_link".to_owned(), seconds: 6 };
        assert_eq!(transforms.lies("base_link", "map", later), Err(old));
        assert_eq!(x(&transforms, "camera", "base_link", later), 0.5);
        transforms.take_in(&link("odom", "base_link", 3.0, When::At(7 * SECOND)), later).unwrap();
        transforms.take_in(&link("map", "odom", 20.0, When::At(7 * SECOND)), later).unwrap();
        assert_eq!(x(&transforms, "base_link", "map", later), 23.0);
    }

    #[test]
    fn the_latest_time_that_all_are_known_for_counts() {
        let now = Instant::now();
        let mut transforms = robot(now);
        // The wheels are a second ahead of the localization.
        transforms.take_in(&link("odom", "base_link", 3.0, When::At(2 * SECOND)), now).unwrap();
        assert_eq!(x(&transforms, "base_link", "map", now), 11.0);
        transforms.take_in(&link("map", "odom", 20.0, When::At(SECOND + SECOND / 2)), now).unwrap();
        assert_eq!(x(&transforms, "base_link", "map", now), 22.0, "half way between two of them");
        // Its past is not known.
        transforms.take_in(&link("odom", "arm", 0.0, When::At(5 * SECOND)), now).unwrap();
        let other = Missing::OtherTime { parent: "odom".to_owned(), child: "arm".to_owned() };
        assert_eq!(transforms.lies("arm", "map", now), Err(other));
    }

    #[test]
    fn regression_a_wrong_transform_that_came_first_kept_out_the_right_ones() {
        let now = Instant::now();
        let mut transforms = Transforms::default();
        for (parent, child, x, when) in [
            ("base_link", "scanner", 0.2, When::Always),
            ("scanner", "map", 1.0, When::At(SECOND)),
            ("map", "odom", 3.0, When::At(SECOND)),
            ("odom", "base_link", 1.0, When::At(SECOND)),
        ] {
            transforms.take_in(&link(parent, child, x, when), now).unwrap();
        }
        assert_eq!(x(&transforms, "base_link", "map", now), 4.0);
        assert_eq!(transforms.base(), Some(("base_link", "scanner")));
        // What has to go round in it is refused, and named.
        transforms.take_in(&link("odom", "camera", 1.0, When::At(SECOND)), now).unwrap();
        transforms.take_in(&link("shelf", "box", 1.0, When::Always), now).unwrap();
        let circle = Missing::Circle("camera".to_owned(), "odom".to_owned());
        assert_eq!(transforms.lies("camera", "box", now), Err(circle));
        assert!(matches!(transforms.lies("box", "camera", now), Err(Missing::Circle(..))));
    }

    #[test]
    fn what_is_no_number_or_no_name_is_refused() {
        let now = Instant::now();
        let mut transforms = robot(now);
        let mut refused =
            |parent, child, x| transforms.take_in(&link(parent, child, x, When::Always), now).unwrap_err();
        assert_eq!(refused("map", "map", 1.0), Refusal::InItself);
        assert_eq!(refused("map", "a", f64::NAN), Refusal::NotFinite);
        assert_eq!(refused("map", "a", f64::INFINITY), Refusal::NotFinite);
        assert_eq!(refused("", "a", 1.0), Refusal::Nameless);
        assert_eq!(refused("map", "", 1.0), Refusal::Nameless);
        let long = "x".repeat(NAME_BYTES + 1);
        assert_eq!(transforms.take_in(&link("map", &long, 1.0, When::Always), now), Err(Refusal::Nameless));
        assert_eq!(x(&transforms, "camera", "map", now), 11.5, "nothing of it was taken");
        let beyond = |parent, child| link(parent, child, f64::MAX, When::Always);
        transforms.take_in(&beyond("map", "far"), now).unwrap();
        transforms.take_in(&beyond("far", "farther"), now).unwrap();
        assert!(matches!(transforms.lies("farther", "map", now), Err(Missing::NotFinite(..))));
    }

    #[test]
    fn a_frame_that_gets_another_parent_hangs_there_only() {
        let now = Instant::now();
        let mut transforms = robot(now);
        transforms.take_in(&link("other_map", "odom", 5.0, When::At(SECOND)), now).unwrap();
        assert_eq!(x(&transforms, "base_link", "other_map", now), 6.0);
        assert!(matches!(transforms.lies("base_link", "map", now), Err(Missing::Unknown(_) | Missing::Apart(..))));
    }

    #[test]
    fn a_flood_of_frames_or_of_moments_is_bounded_and_a_clock_that_is_set_back_counts() {
        let now = Instant::now();
        let mut transforms = robot(now);
        let flood = (0..2 * MOST_FRAMES)
            .filter(|at| transforms.take_in(&link("map", &format!("f{at}"), 0.0, When::Always), now).is_ok());
        assert_eq!(flood.count(), MOST_FRAMES - 4);
        // A kilohertz for a minute: ten seconds of it are kept, and the way between them.
        for at in 0..60_000_i64 {
            let moment = When::At(60 * SECOND + at * SECOND / 1_000);
            transforms.take_in(&link("odom", "base_link", at as f64, moment), now).unwrap();
        }
        let Held::Moments(moments) = &transforms.links["base_link"].held else { panic!("moments") };
        assert!(moments.len() <= MOST_MOMENTS, "{}", moments.len());
        transforms.take_in(&link("map", "odom", 0.0, When::At(112 * SECOND)), now).unwrap();
        assert!((x(&transforms, "base_link", "map", now) - 52_000.0).abs() < 1.0);
        // One that comes late is not the latest; one of a clock that begins anew is.
        transforms.take_in(&link("odom", "base_link", -1.0, When::At(118 * SECOND)), now).unwrap();
        assert!((x(&transforms, "base_link", "map", now) - 52_000.0).abs() < 1.0);
        for (parent, child) in [("odom", "base_link"), ("map", "odom")] {
            transforms.take_in(&link(parent, child, 7.0, When::At(i64::MIN)), now).unwrap();
        }
        assert_eq!(x(&transforms, "base_link", "map", now), 14.0);
    }
}
