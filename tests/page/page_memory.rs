//! What the robot remembers on the page, in a real browser over a real robot: asked, explained, corrected and forgotten.

use cortex_stories::{Browser, Colours, Monitored, Page, TestRobot, Viewport};

async fn tell(page: &Page, thing: &str, value: &str) {
    page.type_into("#memory-subject", thing).await;
    page.type_into("#memory-value", value).await;
    page.click(".memory-note button", "Tell").await;
}

#[tokio::test]
async fn a_person_sees_what_the_robot_believes_and_why_corrects_it_and_has_it_forgotten() {
    let mut test_robot = TestRobot::empty();
    test_robot.find_programs();
    test_robot.add_environment("CORTEX_WEB__LISTEN", "127.0.0.1:0".to_owned());
    let recipe = format!("{}/../recipes/memory.toml", env!("CARGO_MANIFEST_DIR"));
    let mut robot = Monitored::start(&test_robot, &recipe, &["--model", "reflex"]);
    robot.wait_until_all_work(&["base", "battery", "camera", "speaker"]).await;
    let line = robot.process().wait_for_line("page: http").await;
    robot.process().wait_for_line("ready").await;
    let sent = test_robot.send("go to the kitchen").await;
    assert_eq!(sent.status(), "succeeded", "{sent:#?}");
    // The camera looks once a second.
    for _ in 0..30 {
        if test_robot.send("where is the kettle?").await.output().contains("kettle is at kitchen") {
            break;
        }
    }
    let browser = Browser::start().await;
    let page = browser.open(line.trim_start_matches("page: "), Viewport::Wide, Colours::Light).await;
    page.click("nav a", "Memory").await;
    page.wait_for(".memory-list", "robot battery").await;
    page.wait_for(".memory-list", "go to the kitchen: succeeded").await;
    page.type_into("#memory-question", "is the kettle in the kitchen?").await;
    page.click("#memory [role=search] button", "Recall").await;
    page.wait_for(".memory-told", "Is kettle at kitchen? Yes, as far as is known").await;
    page.click(".memory-list button", "Why").await;
    page.wait_for(".memory-trail", "kettle is at kitchen, seen ").await;
    assert_eq!(page.barriers().await, Vec::<String>::new());
    page.keep_screenshot("memory").await;
    // What a person says outranks what was seen before, and stays text, whatever it holds.
    tell(&page, "<b>old trunk</b>", "attic & cellar").await;
    page.wait_for(".memory-list", "a person said so").await;
    let said = page.wait_for(".memory-told", "<b>old trunk</b> is at attic & cellar").await;
    assert!(said.contains("(a person)"), "{said}");
    page.click(".memory-list button", "Correct").await;
    page.type_into("#memory-value", "bedroom").await;
    page.click(".memory-note button", "Tell").await;
    page.wait_for(".memory-told", "<b>old trunk</b> is at bedroom").await;
    page.wait_for(".memory-list", "not any more").await;
    page.click(".memory-list button", "Forget").await;
    page.keep_screenshot("memory-forget").await;
    page.click(".memory-list .confirm:not([hidden]) button", "Forget it").await;
    page.wait_for("#memory [role=status]", "Nothing is known of that.").await;
    let (code, told, _) = test_robot.run("cortex", &["memory", "size", "--recipe", &recipe]).await;
    assert_eq!(code, Some(2), "the robot has the file: {told}");
    assert_eq!(page.complaints().await, Vec::<String>::new());
    let phone = browser.open(line.trim_start_matches("page: "), Viewport::Phone, Colours::Dark).await;
    phone.click("nav a", "Memory").await;
    phone.wait_for(".memory-list", "robot battery").await;
    assert_eq!(phone.barriers().await, Vec::<String>::new());
    phone.keep_screenshot("memory-phone").await;
}
