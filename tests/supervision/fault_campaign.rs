//! A short fault campaign, so that no change breaks it unseen; `cargo xtask campaign` runs the long one.

use std::time::Duration;

use cortex_stories::TestRobot;

/// A hang of the campaign; it takes some 80 s.
const LIMIT: Duration = Duration::from_secs(300);

#[tokio::test]
async fn two_dozen_faults_of_all_kinds_lose_no_errand_and_leave_no_component_down() {
    let test_robot = TestRobot::empty();
    let mut campaign = test_robot.spawn("cortex-campaign", &["--faults", "25", "--seed", "5"]);
    let code = campaign.wait_at_most(LIMIT).await;
    let (told, complained) = (campaign.stdout().join("\n"), campaign.stderr().join("\n"));
    assert_eq!(code, Some(0), "{told}\n{complained}");
    assert!(told.contains("\nok"), "{told}");
}
