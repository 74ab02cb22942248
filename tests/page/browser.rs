//! The browser of the tests, on a page of its own: what it finds, waits for and complains of.

use cortex_stories::{Browser, Colours, Viewport};

#[tokio::test]
async fn it_waits_for_what_a_page_comes_to_show() {
    let browser = Browser::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    let script = "b.onclick = () => { p.textContent = 'late'; q.remove(); fetch('file:///nothing') }";
    let text = format!("<p id=p>soon</p><p id=q>old</p><button id=b>Go on</button><script>{script}</script>");
    std::fs::write(&file, text).unwrap();
    let page = browser.open(&format!("file://{}", file.display()), Viewport::Phone, Colours::Dark).await;
    assert_eq!(page.wait_for("p", "so").await, "soon");
    assert_eq!(page.script("return innerWidth", Vec::new()).await, 390);
    let dark = page.script("return matchMedia('(prefers-color-scheme: dark)').matches", Vec::new()).await;
    assert_eq!(dark, true);
    page.click("button", "Go").await;
    assert_eq!(page.wait_for("p", "late").await, "late");
    page.wait_until_gone("p", "old").await;
    let complaints = page.complaints().await;
    assert!(complaints.iter().any(|complaint| complaint.contains("nothing")), "{complaints:?}");
    assert!(page.screenshot().await.starts_with(b"\x89PNG"));
    page.close().await;
}
