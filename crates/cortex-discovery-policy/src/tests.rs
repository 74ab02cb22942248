use super::*;

fn policy(change: impl FnOnce(&mut PolicySettings)) -> Result<Policy, PolicyError> {
    let mut settings = PolicySettings::default();
    change(&mut settings);
    Policy::new(&settings)
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn a_star_stays_within_a_part_and_two_cross_parts() {
    let policy = policy(|settings| {
        settings.allow = texts(&["/arm/*", "/base/**", "**/reset"]);
        settings.deny = texts(&["/base/danger/**"]);
    })
    .unwrap();
    for (name, offered) in [
        ("/arm/open", true),
        ("/arm/left/open", false),
        ("/arm", false),
        ("/base/a/b", true),
        ("/base/danger/x", false),
        ("/anywhere/at/all/reset", true),
        ("/reset", true),
        ("/elsewhere", false),
    ] {
        assert_eq!(policy.refusal(name).is_none(), offered, "{name}: {:?}", policy.refusal(name));
    }
    assert_eq!(policy.refusal("/base/danger/x").unwrap(), "discovery.deny has '/base/danger/**'");
}

#[test]
fn by_default_everything_is_offered_and_nothing_is_published() {
    for policy in [Policy::default(), policy(|_| {}).unwrap()] {
        assert_eq!(policy.refusal("/cmd_vel"), None);
        assert!(!policy.may_publish("/cmd_vel"));
        assert_eq!(policy.effect("/cmd_vel"), None);
        assert_eq!(policy.name_of("/arm/cmd_vel").as_deref(), Some("arm/cmd_vel"));
    }
}

#[test]
fn the_strictest_effect_counts() {
    let policy = policy(|settings| {
        settings.effects = BTreeMap::from([
            ("/lamp/**".to_owned(), Effect::Act),
            ("/lamp/state".to_owned(), Effect::Observe),
            ("/map/*".to_owned(), Effect::Observe),
        ]);
    })
    .unwrap();
    let effect = |name| policy.effect(name);
    assert_eq!(effect("/lamp/state"), Some((Effect::Act, EffectSource::Declared)));
    assert_eq!(effect("/map/get"), Some((Effect::Observe, EffectSource::Pattern)), "it may not have been meant");
    assert_eq!(effect("/x"), None);
}

#[test]
fn what_is_held_adds_up_and_may_be_nothing() {
    let policy = policy(|settings| {
        settings.resources = BTreeMap::from([
            ("/arm/**".to_owned(), vec!["table".into(), "arm".into()]),
            ("/arm/lamp".to_owned(), vec!["arm".into(), "socket".into()]),
            ("/light".to_owned(), vec![]),
        ]);
    })
    .unwrap();
    let held = |name| policy.resources(name);
    assert_eq!(held("/arm/lamp"), Some(vec!["arm".into(), "socket".into(), "table".into()]));
    assert_eq!((held("/light"), held("/x")), (Some(vec![]), None));
}

#[test]
fn a_name_that_was_given_away_is_nobody_elses_whoever_is_there() {
    let policy = policy(|settings| {
        settings.rename = BTreeMap::from([("/a/very/long/name".to_owned(), "dock".to_owned())]);
    })
    .unwrap();
    assert_eq!(policy.name_of("/a/very/long/name").as_deref(), Some("dock"));
    assert_eq!(policy.name_of("/dock"), None);
    assert_eq!(policy.name_of("/other").as_deref(), Some("other"));
}

#[test]
fn what_can_not_be_used_is_named_with_its_key_and_a_fix() {
    let renames = |pairs: &[(&str, &str)]| {
        let rename = pairs.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
        policy(|settings| settings.rename = rename).unwrap_err().to_string()
    };
    for (problem, expected) in [
        (policy(|settings| settings.deny = texts(&["/a/[b"])).unwrap_err().to_string(), "deny: '/a/[b' is not"),
        (policy(|settings| settings.allow = texts(&["base/*"])).unwrap_err().to_string(), "write '/base/*'"),
        (policy(|settings| settings.publish = texts(&[""])).unwrap_err().to_string(), "publish: ''"),
        (renames(&[("/a", "b c")]), "rename: 'b c' can't stand"),
        (
            policy(|settings| settings.resources = BTreeMap::from([("/a".to_owned(), vec![" ".into()])]))
                .unwrap_err()
                .to_string(),
            "resources: a resource has no name",
        ),
        (renames(&[("a", "b")]), "begins with a slash"),
        (renames(&[("/a", "x"), ("/b", "x")]), "new name of two things"),
        (
            policy(|settings| settings.conventions = BTreeMap::from([("Pose".to_owned(), Convention::Hidden)]))
                .unwrap_err()
                .to_string(),
            "conventions: \"Pose\" is not the name of an interface",
        ),
    ] {
        assert!(problem.contains(expected), "{problem}");
    }
}
