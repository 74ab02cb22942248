use super::*;

fn call(number: u32) -> CallKey {
    ("mission".into(), CallId(number))
}

fn invocation(number: u32) -> Invocation {
    Invocation {
        mission: "mission".into(),
        id: CallId(number),
        call: cortex_protocol::ToolCall { tool: "base.go_to".into(), arguments: serde_json::Map::new() },
        fingerprint: cortex_protocol::ToolFingerprint(0),
        timeout: Duration::from_secs(1),
    }
}

impl Haltable for &str {
    fn may_go_on(&self) -> bool {
        true
    }
}

#[test]
fn a_call_is_open_from_its_sending_to_its_answer() {
    let calls = Calls::default();
    assert_eq!(calls.open(&call(1)), None);
    let sent = calls.send(&invocation(1), None, "base", || calls.open(&call(1)));
    assert_eq!(sent, Ok(Some("base")), "a halt finds it at once");
    assert_eq!(calls.open(&call(1)), Some("base"));
    calls.answered(&call(1));
    assert_eq!(calls.open(&call(1)), None);
}

#[test]
fn a_call_that_was_halted_is_not_sent() {
    let calls = Calls::default();
    calls.halts().halt(call(1));
    calls.halts().halt(call(1));
    let mut sent = Vec::new();
    assert_eq!(calls.send(&invocation(1), None, "lamp", || sent.push("lamp")), Err(Unsent::Halted));
    assert_eq!(calls.open(&call(1)), None);
    assert_eq!(calls.send(&invocation(2), None, "arm", || sent.push("another")), Ok(()));
    assert_eq!(sent, ["another"]);
}

#[test]
fn while_the_robot_is_stopped_nothing_is_sent_and_what_was_is_known() {
    let calls = Calls::default();
    assert_eq!(calls.send(&invocation(1), None, "base", || ()), Ok(()));
    let stop = calls.latch().close();
    assert!(calls.halts().settle());
    assert_eq!(calls.send(&invocation(2), None, "arm", || panic!("it is sent")), Err(Unsent::Stopped));
    let open: Vec<_> = calls.all().unwrap().into_iter().map(|(_, open)| (open.tool, open.call)).collect();
    assert_eq!(open, [("base.go_to".into(), "base")]);
    assert!(calls.latch().open(stop));
    calls.forget();
    assert!(!calls.is_open(&call(1)));
    assert_eq!(calls.send(&invocation(2), None, "arm", || ()), Ok(()));
}

#[test]
fn a_call_that_is_stuck_while_it_is_sent_does_not_keep_a_stop_waiting() {
    let halts = Arc::new(Halts::default());
    halts
        .unless_halted(&call(1), || {
            let other = Arc::clone(&halts);
            assert!(!std::thread::spawn(move || other.settle()).join().unwrap());
        })
        .unwrap();
    assert!(halts.settle());
}

#[test]
fn regression_a_stop_that_comes_after_the_last_look_waits_for_what_is_being_sent() {
    let calls = Arc::new(Calls::default());
    let other = Arc::clone(&calls);
    let is_settled = calls.latch().stop_after_next_look(move || other.halts().settle());
    assert_eq!(calls.send(&invocation(1), None, "base", || "sent"), Ok("sent"));
    assert_eq!(is_settled.try_recv(), Ok(false));
    assert!(calls.halts().settle() && calls.is_open(&call(1)), "a second look finds what was sent");
}

/// The oldest open call used to be forgotten, and counted as at rest from then on.
#[test]
fn regression_a_call_that_may_go_on_is_never_forgotten_for_another_one() {
    let calls = Calls::default();
    let look = |number| calls.send(&invocation(number), None, CancelMode::Drop, || ());
    let act = |number| calls.send(&invocation(number), None, CancelMode::Halt, || ());
    assert_eq!((act(0), look(1)), (Ok(()), Ok(())));
    (2..1024).for_each(|number| assert_eq!(act(number), Ok(())));
    assert_eq!(act(2000), Ok(()), "what only looks makes room");
    assert_eq!((calls.is_open(&call(0)), calls.is_open(&call(1))), (true, false));
    let refused = calls.send(&invocation(2001), None, CancelMode::Halt, || panic!("it is sent"));
    assert_eq!(refused, Err(Unsent::TooMany));
    assert!(Unsent::TooMany.outcome().message.contains("1024 calls were never answered"));
    assert!(calls.is_open(&call(0)), "the oldest is known still");
    calls.answered(&call(5));
    assert_eq!(act(2001), Ok(()));
}

#[test]
fn the_memory_is_bounded_and_the_oldest_go_first() {
    let (halts, calls) = (Halts::default(), Calls::default());
    for number in 0..2000 {
        calls.send(&invocation(number), None, CancelMode::Drop, || ()).unwrap();
        halts.halt(call(number));
    }
    let open = |number| calls.open(&call(number)).is_some();
    assert_eq!((open(0), open(975), open(976), open(1999)), (false, false, true, true));
    let halted = |number| halts.unless_halted(&call(number), || ()).is_err();
    assert_eq!((halted(0), halted(975), halted(976), halted(1999)), (false, false, true, true));
}

/// What a process did that was killed was named by every stop, for ever.
#[test]
fn regression_the_end_of_a_process_is_the_end_of_its_calls_and_of_no_others() {
    let calls = Calls::default();
    for (number, of) in [(1, Some("base")), (2, Some("/base")), (3, Some("arm")), (4, None)] {
        calls.send(&invocation(number), of.map(Into::into), "base", || ()).unwrap();
    }
    calls.end_calls(&"base".into());
    let open: Vec<bool> = (1..=4).map(|number| calls.is_open(&call(number))).collect();
    assert_eq!(open, [false, false, true, true]);
}

#[test]
fn what_goes_on_beside_the_missions_is_known_until_it_has_ended_also_after_a_person_has_looked() {
    let calls = Arc::new(Calls::default());
    let open = || calls.all().unwrap().into_iter().map(|(_, open)| open.tool.to_string()).collect::<Vec<_>>();
    let (sent, request) = calls.send_beside("base.reset".into(), None, "a request", || "sent").unwrap();
    let command = calls.note_beside("fix".into(), "a command").unwrap();
    assert_eq!((sent, open()), ("sent", vec!["base.reset".to_owned(), "fix".to_owned()]));
    let stop = calls.latch().close();
    let refused = calls.send_beside("base.turn".into(), None, "a request", || panic!("it is sent"));
    assert_eq!(refused.map(|_| ()), Err(Unsent::Stopped));
    assert!(calls.note_beside("fix".into(), "a command").is_none());
    drop(command);
    assert_eq!(open(), ["base.reset"]);
    calls.forget();
    assert!(calls.latch().open(stop));
    assert_eq!(open(), ["base.reset"], "the next stop names it, too");
    drop(request);
    assert!(open().is_empty());
}

#[test]
fn regression_a_stop_that_comes_after_the_last_look_finds_what_is_sent_beside_the_missions() {
    let calls = Arc::new(Calls::default());
    let other = Arc::clone(&calls);
    let is_settled = calls.latch().stop_after_next_look(move || other.halts().settle());
    let (sent, _open) = calls.send_beside("/cmd_vel".into(), None, "a message", || "sent").unwrap();
    assert_eq!((sent, is_settled.try_recv()), ("sent", Ok(false)));
    assert_eq!(calls.all().unwrap().len(), 1, "a second look finds what was sent");
}

/// The monitor used to wait for it, and with it all that keeps the robot alive.
#[test]
fn regression_a_command_is_begun_although_something_is_stuck_while_it_is_sent() {
    let calls = Arc::new(Calls::<&str>::default());
    let other = Arc::clone(&calls);
    let is_begun = calls.halts().unless_halted(&call(1), || {
        std::thread::spawn(move || other.note_beside("fix".into(), "a command").is_some()).join().unwrap()
    });
    assert_eq!(is_begun, Ok(true));
}
