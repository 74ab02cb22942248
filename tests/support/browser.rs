//! A real Chromium, headless, driven through its WebDriver: what a person at the page sees and does.
//!
//! A test waits for what the page shows ([`Page::wait_for`]), never for a time: the page itself says when it has changed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fantoccini::wd::{TimeoutConfiguration, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::{PATIENCE, Process};

/// What the driver says on its standard output once it takes sessions, before its port.
const STARTED: &str = "started successfully on port ";

/// Where axe-core lies.
const AXE: &str = "CORTEX_AXE";
/// Has axe-core look at the page, and gives what is serious or critical.
const LOOK_FOR_BARRIERS: &str = r#"
const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => {
  const bad = violations.filter((one) => ['serious', 'critical'].includes(one.impact));
  const place = (node) => `${node.target.join(' ')} (${node.any.concat(node.all, node.none).map((check) => check.message).join('; ')})`;
  done(bad.map((one) => `${one.impact} ${one.id}, ${one.help}: ${one.nodes.map(place).join(' | ')}`));
}, (problem) => done(String(problem)));
"#;
/// How Chromium names a file that it has not saved as a whole.
const PARTIAL: &str = ".crdownload";
/// How often it is looked whether a file is there.
const LOOK: Duration = Duration::from_millis(50);

/// Finds the first visible element that a selector names and whose text contains some words, waits for one if there is none,
/// and does one thing with it. Runs in the page.
const FIND: &str = include_str!("find_in_page.js");

/// Waits until a form says what came of sending it.
const ANSWERED: &str = r#"
const [form, done] = arguments;
const look = () => {
  const told = document.querySelector(`${form} .answer`)?.textContent ?? '';
  if (told && told !== 'Sending…') done(told);
  else setTimeout(look, 20);
};
look();
"#;

/// The browser. Each window is a session of its own: windows share no cookies.
pub struct Browser {
    _driver: Process,
    address: String,
    /// Where its windows save files.
    downloads: TempDir,
}

/// The size of a window, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Viewport {
    /// A desk: 1440 x 900.
    Wide,
    /// A tablet, held upright: 820 x 1180.
    Tablet,
    /// A phone: 390 x 844.
    Phone,
}

/// The colours that the window asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

impl Viewport {
    fn size(self) -> (u32, u32) {
        match self {
            Self::Wide => (1440, 900),
            Self::Tablet => (820, 1180),
            Self::Phone => (390, 844),
        }
    }
}

/// A window with a page.
pub struct Page {
    client: Client,
}

impl Browser {
    /// Starts the driver.
    ///
    /// # Panics
    /// When it does not say where it listens.
    pub async fn start() -> Self {
        let mut driver = Process::spawn(Path::new("chromedriver"), &["--port=0"], &[]);
        let line = driver.wait_for_line(STARTED).await;
        let port = line.split(STARTED).nth(1).map(|rest| rest.trim_end_matches('.'));
        let port: u16 = port.and_then(|port| port.parse().ok()).unwrap_or_else(|| panic!("no port in '{line}'"));
        let downloads = tempfile::tempdir().expect("a folder for downloads");
        Self { _driver: driver, address: format!("http://127.0.0.1:{port}"), downloads }
    }

    /// Waits until a window has saved a whole file whose name begins so.
    ///
    /// # Panics
    /// When none comes.
    pub async fn downloaded(&self, beginning: &str) -> PathBuf {
        // Until then it has another name.
        let is_meant = |name: &str| name.starts_with(beginning) && !name.ends_with(PARTIAL);
        let found = || {
            let mut files = std::fs::read_dir(&self.downloads).ok()?.flatten();
            files.find(|file| file.file_name().to_str().is_some_and(is_meant)).map(|file| file.path())
        };
        let saved = async {
            loop {
                if let Some(path) = found() {
                    return path;
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        timeout(PATIENCE, saved).await.unwrap_or_else(|_| panic!("no file {beginning} was saved"))
    }

    /// Opens an address in a new window.
    ///
    /// # Panics
    /// When the browser can't be started, or there is no page.
    pub async fn open(&self, address: &str, viewport: Viewport, colours: Colours) -> Page {
        let (width, height) = viewport.size();
        let mut arguments = vec![
            "--headless=new".to_owned(),
            // In a container there is neither a sandbox for root nor much shared memory.
            "--no-sandbox".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--hide-scrollbars".to_owned(),
            // Without it a graphics card is emulated: a fifth of the processor time of a window.
            "--disable-gpu".to_owned(),
            // It ends when the driver does.
            "--remote-debugging-pipe".to_owned(),
            format!("--window-size={width},{height}"),
        ];
        if colours == Colours::Dark {
            arguments.push("--blink-settings=preferredColorScheme=0".to_owned());
        }
        // A window of Chromium is never narrower than 500 pixels; that of a device is.
        let metrics = json!({"width": width, "height": height, "pixelRatio": 1.0, "mobile": false, "touch": false});
        let preferences = json!({"download.default_directory": self.downloads.path()});
        let options = json!({"args": arguments, "prefs": preferences, "mobileEmulation": {"deviceMetrics": metrics}});
        let mut capabilities = Map::new();
        capabilities.insert("goog:chromeOptions".to_owned(), options);
        capabilities.insert("goog:loggingPrefs".to_owned(), json!({"browser": "ALL"}));
        let mut building = ClientBuilder::new(HttpConnector::new());
        let client = building.capabilities(capabilities).connect(&self.address).await;
        let client = client.unwrap_or_else(|problem| panic!("no window of Chromium: {problem}"));
        let limits = TimeoutConfiguration::new(Some(PATIENCE), Some(PATIENCE), None);
        done("the limits", client.update_timeouts(limits).await);
        done(address, client.goto(address).await);
        Page { client }
    }
}

impl Page {
    /// Waits until a visible element that the selector names contains the text, and gives its text.
    pub async fn wait_for(&self, selector: &str, text: &str) -> String {
        let found = self.find(selector, text, "read").await;
        found.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until no visible element that the selector names contains the text.
    pub async fn wait_until_gone(&self, selector: &str, text: &str) {
        self.find(selector, text, "gone").await;
    }

    /// Waits until there is a visible, enabled element that the selector names and whose text contains `text`, and clicks it.
    pub async fn click(&self, selector: &str, text: &str) {
        self.find(selector, text, "click").await;
    }

    /// Presses a button of a card as soon as the card takes it: one that has just come takes no press for 0.6 s, so that
    /// nobody answers what they have not read.
    pub async fn answer_deliberately(&self, selector: &str, text: &str) {
        let wait = "const done = arguments[0]; const card = document.querySelector('.card'); \
                    setTimeout(done, Math.max(0, card.shownAt + 650 - performance.now()));";
        self.async_script(wait, Vec::new()).await;
        self.click(selector, text).await;
    }

    /// Types into a field as a person would, and into what has the focus where the selector is empty. Special keys are
    /// those of WebDriver (`fantoccini::key::Key`).
    pub async fn type_into(&self, selector: &str, text: &str) {
        let element = match selector {
            "" => done("the focus", self.client.active_element().await),
            selector => {
                self.find(selector, "", "read").await;
                done(selector, self.client.find(fantoccini::Locator::Css(selector)).await)
            }
        };
        done(selector, element.send_keys(text).await);
    }

    /// Types a task into its field and sends it.
    pub async fn send_task(&self, task: &str) {
        self.type_into("#task", task).await;
        self.send(".task-box").await;
    }

    /// Sends what a form holds, as a person does: on a loaded machine the view may be old for a moment; then the page
    /// refuses, keeps the words and says that they can be sent once it is live again.
    pub async fn send(&self, form: &str) {
        let sent = async {
            loop {
                self.click(&format!("{form} button[type=submit]:not([disabled])"), "Send the task").await;
                let told = self.async_script(ANSWERED, vec![form.into()]).await;
                if !told.as_str().unwrap_or_default().contains("Wait until it is live") {
                    return;
                }
            }
        };
        timeout(PATIENCE, sent).await.unwrap_or_else(|_| panic!("{form} can't be sent: the view stays frozen"));
    }

    /// Runs a script in the page, outside its content security policy, and gives what it returns.
    pub async fn script(&self, script: &str, arguments: Vec<Value>) -> Value {
        done(script, self.client.execute(script, arguments).await)
    }

    /// Runs a script in the page that calls its last argument when it is done, and gives what it passes.
    pub async fn async_script(&self, script: &str, arguments: Vec<Value>) -> Value {
        done("a script", self.client.execute_async(script, arguments).await)
    }

    /// What keeps people from using the page as it is now, as axe-core finds it: serious and critical things, each with where.
    ///
    /// # Panics
    /// Where `cargo xtask test` does not say where axe-core lies.
    pub async fn barriers(&self) -> Vec<String> {
        let script = std::env::var(AXE).expect("`cargo xtask test` sets CORTEX_AXE");
        let script = std::fs::read_to_string(script).expect("axe-core");
        self.script(&script, Vec::new()).await;
        let found = self.async_script(LOOK_FOR_BARRIERS, Vec::new()).await;
        let found = found.as_array().unwrap_or_else(|| panic!("axe-core: {found}"));
        found.iter().filter_map(|barrier| barrier.as_str().map(ToOwned::to_owned)).collect()
    }

    /// Opens another address in this window.
    pub async fn go(&self, address: &str) {
        done(address, self.client.goto(address).await);
    }

    /// The whole window as PNG.
    pub async fn screenshot(&self) -> Vec<u8> {
        done("a screenshot", self.client.screenshot().await)
    }

    /// Keeps what the window shows in `screenshots` in the target folder, for people to look at.
    pub async fn keep_screenshot(&self, name: &str) {
        let program = crate::binary("cortex");
        let folder =
            program.parent().and_then(Path::parent).expect("programs are in the target folder").join("screenshots");
        std::fs::create_dir_all(&folder).expect("a folder for screenshots");
        std::fs::write(folder.join(format!("{name}.png")), self.screenshot().await).expect("a screenshot is written");
    }

    /// What the browser has complained of since it was asked last: errors of scripts, refused content, failed requests.
    pub async fn complaints(&self) -> Vec<String> {
        let log = done("the browser's log", self.client.issue_cmd(BrowserLog).await);
        let entries = log.as_array().map(Vec::as_slice).unwrap_or_default();
        let severe = entries.iter().filter(|entry| entry["level"] == "SEVERE" || entry["level"] == "WARNING");
        severe.filter_map(|entry| entry["message"].as_str().map(ToOwned::to_owned)).collect()
    }

    /// Closes the window.
    pub async fn close(self) {
        done("closing", self.client.close().await);
    }

    async fn find(&self, selector: &str, text: &str, act: &str) -> Value {
        let arguments = vec![selector.into(), text.into(), act.into()];
        match self.client.execute_async(FIND, arguments).await {
            Ok(found) => found,
            Err(problem) => {
                let shown = self.client.execute("return document.body.innerText", Vec::new()).await;
                let shown = shown.ok().and_then(|text| text.as_str().map(ToOwned::to_owned)).unwrap_or_default();
                panic!("'{selector}' with '{text}' ({act}): {problem}\nThe page shows:\n{shown}")
            }
        }
    }
}

fn done<T, E: std::fmt::Display>(what: &str, result: Result<T, E>) -> T {
    result.unwrap_or_else(|problem| panic!("{what}: {problem}"))
}

/// Chromium's own command for its log.
#[derive(Debug)]
struct BrowserLog;

impl WebDriverCompatibleCommand for BrowserLog {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(json!({"type": "browser"}).to_string()))
    }
}
