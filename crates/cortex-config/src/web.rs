//! `[web]`: where the page for people is served.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::secret_place::{SecretPlace, secret_place};

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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) webhooks: Vec<WebhookConfig>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) incoming: Vec<IncomingConfig>,
}

/// Another system that is told what happens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookConfig {
    pub(crate) url: String,
    /// Kinds of events.
    pub(crate) events: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) secret_file: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) secret_env: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) allow_http: bool,
}

/// Another system that gives tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IncomingConfig {
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) secret_file: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) secret_env: Option<String>,
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
            webhooks: Vec::new(),
            incoming: Vec::new(),
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
    /// Other systems that are told what happens.
    pub webhooks: Vec<WebhookChoice>,
    /// Other systems that give tasks.
    pub incoming: Vec<IncomingChoice>,
}

/// Another system that is told what happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookChoice {
    /// Where it is told.
    pub url: String,
    /// Of which kinds of events.
    pub events: Vec<String>,
    /// With what that is signed.
    pub secret: SecretPlace,
    /// Whether its address may be in clear.
    pub allow_http: bool,
}

/// Another system that gives tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncomingChoice {
    /// Its name, which is part of the address that it sends to.
    pub name: String,
    /// With what it signs.
    pub secret: SecretPlace,
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
    // An address may hold a secret: it is not repeated.
    let webhook = |(place, hook): (usize, &WebhookConfig)| {
        let secret = placed(&format!("web.webhooks, number {}", place + 1), &hook.secret_file, &hook.secret_env)?;
        Ok(WebhookChoice { url: hook.url.clone(), events: hook.events.clone(), secret, allow_http: hook.allow_http })
    };
    let incoming = |hook: &IncomingConfig| {
        let secret = placed(&format!("web.incoming, {}", hook.name), &hook.secret_file, &hook.secret_env)?;
        Ok(IncomingChoice { name: hook.name.clone(), secret })
    };
    Ok(Some(PageSettings {
        address,
        login: web.login,
        tls: tls(web)?,
        webhooks: web.webhooks.iter().enumerate().map(webhook).collect::<anyhow::Result<_>>()?,
        incoming: web.incoming.iter().map(incoming).collect::<anyhow::Result<_>>()?,
    }))
}

fn placed(whose: &str, file: &Option<PathBuf>, variable: &Option<String>) -> anyhow::Result<SecretPlace> {
    secret_place(whose, "secret", file.as_ref(), variable.as_ref())
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

    use crate::{Layers, LoginChoice, SecretPlace, load};

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
    fn a_webhook_says_where_its_secret_is_and_never_what_it_is() {
        let page = |text: &str| {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("cortex.toml");
            std::fs::write(&file, text).unwrap();
            load(&Layers { file: Some(file), ..Layers::default() }).map(|resolved| resolved.web.unwrap())
        };
        let both = page(
            "[[web.webhooks]]\nurl = 'https://a'\nevents = ['cortex.*']\nsecret_file = '/s'\n\
             [[web.incoming]]\nname = 'shop'\nsecret_env = 'SHOP'",
        )
        .unwrap();
        assert_eq!(both.webhooks[0].secret, SecretPlace::File("/s".into()));
        assert_eq!(both.incoming[0].secret, SecretPlace::Variable("SHOP".to_owned()));
        for (text, said) in [
            ("[[web.incoming]]\nname = 'shop'", "web.incoming, shop: give either secret_file or secret_env"),
            ("[[web.webhooks]]\nurl = 'https://a'\nevents = []", "web.webhooks, number 1: give either"),
            ("[[web.incoming]]\nname = 'shop'\nsecret_file = 's'", "it must be a full path"),
            ("[[web.incoming]]\nname = 'shop'\nsecret = 'whsec_'", "secret"),
            ("[[web.webhooks]]\nurl = 'https://a'\nsecret_env = 'A'", "events"),
        ] {
            let problem = page(text).unwrap_err().to_string();
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
