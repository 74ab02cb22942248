//! `[web]`: where the page for people is served.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// Where the page is served.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebConfig {
    /// Empty, or [`OFF`]: nowhere.
    pub(crate) listen: String,
    pub(crate) login: LoginChoice,
}

/// Who has to log in to the page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoginChoice {
    /// Every device but the robot's own computer.
    #[default]
    Others,
    /// Every device, also the robot's own computer: a proxy runs there that can't say for whom it asks.
    Everyone,
}

/// What is written where there is to be no page.
const OFF: &str = "off";

impl Default for WebConfig {
    fn default() -> Self {
        // Whoever sits at the machine; others only once somebody has decided that.
        Self { listen: "127.0.0.1:8642".to_owned(), login: LoginChoice::default() }
    }
}

/// The page for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSettings {
    /// Where it is served.
    pub address: SocketAddr,
    /// Who has to log in.
    pub login: LoginChoice,
}

/// The page. None: there is none.
pub(super) fn page(web: &WebConfig) -> anyhow::Result<Option<PageSettings>> {
    let listen = web.listen.trim();
    if listen.is_empty() || listen == OFF {
        return Ok(None);
    }
    let address = listen.parse().map_err(|_| {
        anyhow::anyhow!(
            "configuration: web.listen is '{listen}'; it must be an address and a port, such as 127.0.0.1:8642, or \"off\""
        )
    })?;
    Ok(Some(PageSettings { address, login: web.login }))
}

#[cfg(test)]
mod tests {
    use figment::value::Value;

    use crate::{Layers, LoginChoice, load};

    fn served(layers: &Layers) -> Option<String> {
        load(layers).unwrap().web.map(|page| page.address.to_string())
    }

    #[test]
    fn the_page_is_served_on_this_machine_alone_unless_somebody_says_otherwise() {
        assert_eq!(served(&Layers::default()).as_deref(), Some("127.0.0.1:8642"));
        for (listen, expected) in [
            ("", None),
            (" off ", None),
            ("off", None),
            ("0.0.0.0:80", Some("0.0.0.0:80")),
            ("[::1]:0", Some("[::1]:0")),
        ] {
            let ros = vec![("web.listen".into(), Value::from(listen))];
            assert_eq!(served(&Layers { ros, ..Layers::default() }).as_deref(), expected, "'{listen}'");
        }
    }

    #[test]
    fn the_robots_own_computer_needs_no_login_unless_somebody_says_otherwise() {
        let login = |ros| load(&Layers { ros, ..Layers::default() }).unwrap().web.unwrap().login;
        assert_eq!(login(Vec::new()), LoginChoice::Others);
        assert_eq!(login(vec![("web.login".into(), Value::from("everyone"))]), LoginChoice::Everyone);
    }

    #[test]
    fn the_command_line_wins_over_what_the_node_was_given() {
        let ros = vec![("web.listen".into(), Value::from("127.0.0.1:1"))];
        let mut layers = Layers { ros, web: Some("off".to_owned()), ..Layers::default() };
        assert_eq!(served(&layers), None);
        layers.web = Some("192.168.0.7:80".to_owned());
        assert_eq!(served(&layers).as_deref(), Some("192.168.0.7:80"));
        layers.web = Some("everywhere".to_owned());
        let problem = load(&layers).unwrap_err().to_string();
        assert!(problem.contains("web.listen is 'everywhere'"), "{problem}");
    }
}
