//! Secrets of webhooks, and what is signed with them.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;

use super::WebhookProblem;

/// What a secret begins with, in its written form, and a signature.
const SECRET: &str = "whsec_";
const VERSION: &str = "v1,";
/// Signatures of one message that are looked at: there are several while a secret is being replaced.
const SIGNATURES: usize = 8;

/// The secret that a webhook is signed with.
#[derive(Clone)]
pub struct WebhookSecret(Arc<[u8]>);

impl WebhookSecret {
    /// Reads its written form: `whsec_` and base64.
    ///
    /// # Errors
    /// When it has another form, or is too short to be a secret.
    pub fn parse(text: &str) -> Result<Self, WebhookProblem> {
        let encoded = text.trim().strip_prefix(SECRET).ok_or(WebhookProblem::Secret)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| WebhookProblem::Secret)?;
        if (24..=64).contains(&bytes.len()) { Ok(Self(bytes.into())) } else { Err(WebhookProblem::Secret) }
    }

    /// The signature of a message.
    pub(super) fn sign(&self, id: &str, timestamp: u64, body: &[u8]) -> String {
        let signed =
            self.signed(id, &timestamp.to_string(), body).map(|mac| STANDARD.encode(mac.finalize().into_bytes()));
        format!("{VERSION}{}", signed.unwrap_or_default())
    }

    /// Whether one of the signatures, with blanks between them, is that of the message.
    pub(super) fn verifies(&self, signatures: &str, id: &str, timestamp: &str, body: &[u8]) -> bool {
        let Some(mac) = self.signed(id, timestamp, body) else { return false };
        let given =
            signatures.split(' ').take(SIGNATURES).filter_map(|one| STANDARD.decode(one.strip_prefix(VERSION)?).ok());
        // Each one is compared, whichever matches, and without telling by the time how much was right.
        given.fold(false, |matches, one| mac.clone().verify_slice(&one).is_ok() | matches)
    }

    fn signed(&self, id: &str, timestamp: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
        // A key of any length is one.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        mac.update(body);
        Some(mac)
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WebhookSecret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    /// The example of the specification.
    #[test]
    fn a_signature_is_the_one_that_others_make() {
        let secret = WebhookSecret::parse(&format!(" {WRITTEN}\n")).unwrap();
        let (id, body) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", br#"{"test": 2432232314}"#);
        let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(secret.sign(id, 1_614_265_330, body), signature);
        let verifies = |signatures: &str, id, timestamp, body: &[u8]| secret.verifies(signatures, id, timestamp, body);
        assert!(verifies(signature, id, "1614265330", body));
        assert!(verifies(&format!("v1a,x v1,AAAA {signature}"), id, "1614265330", body));
        assert!(!verifies(signature, "msg", "1614265330", body));
        assert!(!verifies(signature, id, "1614265331", body));
        assert!(!verifies(signature, id, "1614265330", b"{}"));
        for none in ["", "v1,", "v1", &signature[3..], &format!("v2{}", &signature[2..])] {
            assert!(!verifies(none, id, "1614265330", body), "{none}");
        }
    }

    #[test]
    fn what_is_no_secret_is_refused_and_a_secret_is_never_shown() {
        for text in
            ["", "whsec_", "secret", &WRITTEN[6..], "whsec_AAAA", "whsec_?", &format!("{WRITTEN}{}", "A".repeat(200))]
        {
            assert_eq!(WebhookSecret::parse(text).err(), Some(WebhookProblem::Secret), "{text}");
        }
        assert_eq!(format!("{:?}", WebhookSecret::parse(WRITTEN).unwrap()), "WebhookSecret(..)");
    }
}
