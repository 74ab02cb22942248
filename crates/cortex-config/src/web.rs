//! `[web]`: where the page for people is served.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where the page is served.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebConfig {
    /// Empty, or [`OFF`]: nowhere.
    pub(crate) listen: String,
    pub(crate) login: LoginChoice,
    /// Files in PEM. Empty: the page is not encrypted.
    pub(crate) certificate: String,
    pub(crate) key: String,
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
        Self {
            listen: "127.0.0.1:8642".to_owned(),
            login: LoginChoice::default(),
            certificate: String::new(),
            key: String::new(),
        }
    }
}

/// The page for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSettings {
    /// Where it is served.
    pub address: SocketAddr,
    /// Who has to log in.
    pub login: LoginChoice,
    /// With what it is encrypted. None: it is not.
    pub tls: Option<TlsChoice>,
}

/// A certificate and its key: files in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsChoice {
    /// The certificate, and those of who has signed it.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
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
    Ok(Some(PageSettings { address, login: web.login, tls: tls(web)? }))
}

fn tls(web: &WebConfig) -> anyhow::Result<Option<TlsChoice>> {
    let file = |name: &str, other: &str, value: &str| {
        anyhow::ensure!(!value.is_empty(), "configuration: web.{other} is given, and web.{name} is not; give both");
        let path = PathBuf::from(value);
        anyhow::ensure!(path.is_absolute(), "configuration: web.{name} is '{value}'; it must be a full path");
        Ok(path)
    };
    let (certificate, key) = (web.certificate.trim(), web.key.trim());
    if certificate.is_empty() && key.is_empty() {
        return Ok(None);
    }
    let certificate = file("certificate", "key", certificate)?;
    Ok(Some(TlsChoice { certificate, key: file("key", "certificate", key)? }))
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
    fn a_certificate_and_its_key_are_given_together_with_full_paths() {
        let page = |certificate: &str, key: &str| {
            let ros = vec![("web.certificate".into(), Value::from(certificate)), ("web.key".into(), Value::from(key))];
            load(&Layers { ros, ..Layers::default() }).map(|resolved| resolved.web.unwrap().tls)
        };
        assert_eq!(page("", "").unwrap(), None);
        let tls = page("/a/c.pem", "/a/k.pem").unwrap().unwrap();
        assert_eq!((tls.certificate.to_str(), tls.key.to_str()), (Some("/a/c.pem"), Some("/a/k.pem")));
        for (certificate, key, said) in [
            ("/a", "", "web.certificate is given, and web.key is not"),
            ("", "/a", "web.key is given, and web.certificate is not"),
            ("a.pem", "/a", "web.certificate is 'a.pem'; it must be a full path"),
        ] {
            let problem = page(certificate, key).unwrap_err().to_string();
            assert!(problem.contains(said), "{problem}");
        }
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
