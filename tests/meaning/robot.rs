//! A robot that has the model: its documents are found by what they mean, and what is wrong with the model is said at its start.

use cortex_stories::{TestRobot, model, prompts, says};

use crate::{folder, set};

#[tokio::test]
async fn a_question_in_other_words_than_the_manual_reaches_the_planner_with_its_passage() {
    let mut test_robot = TestRobot::empty();
    test_robot.configure(&format!("[embedding]\nfolder = {:?}\n", folder().to_string_lossy()));
    let documents = set("documents").to_string_lossy().into_owned();
    let (code, told, complained) = test_robot.run("cortex", &["knowledge", "add", &documents]).await;
    assert_eq!(code, Some(0), "{told}{complained}");
    let question = "There are flames in the corridor, how do we get out and warn the others?";
    let (code, told, _) = test_robot.run("cortex", &["knowledge", "search", question]).await;
    assert_eq!(code, Some(0), "{told}");
    assert!(told.lines().next().is_some_and(|first| first.contains("Fire alarm")), "{told}");

    // To plan, it goes by the words where the meaning is not known in time, as it may be on a busy machine: here both fit.
    let question = "What do I do when the siren sounds: leave the building by the nearest exit?";
    test_robot.start("sim", "cortex-sim", &[]).await;
    let model = model([says("By the stairs.")]).await;
    test_robot.start_cortex_with(&model).await;
    let sent = test_robot.send(question).await;
    let told = prompts(&model);
    let first = told.first().map(String::as_str).unwrap_or_default();
    assert!(first.contains("emergency_sheet.md") && first.contains("Fire alarm"), "{first}");
    assert!(sent.lines().join("\n").contains("on record: [knowledge: "), "{:#?}", sent.lines());
}

#[tokio::test]
async fn a_folder_without_a_model_is_named_before_anything_begins() {
    let mut test_robot = TestRobot::empty();
    test_robot.configure("[embedding]\nfolder = \"/nowhere/minilm\"\n");
    let (code, told, complained) = test_robot.run("cortex", &["run", "--model", "reflex"]).await;
    assert_ne!(code, Some(0), "{told}");
    assert!(
        complained.contains("embedding.folder") && complained.contains("/nowhere/minilm/config.json"),
        "{complained}"
    );
}
