//! TLS with the certificate and the key of two files. Files that were renewed are used from the next connection on.
//!
//! Whoever comes from this machine may speak in clear or encrypted, so that `curl` and `cortex watch` on the robot need no
//! certificate. Everybody else is served encrypted, or not at all: also where the files can't be used.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use thiserror::Error;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};
use x509_parser::parse_x509_certificate;

use crate::TlsFiles;

/// Largest file that is read.
const FILE_BYTES: u64 = 1 << 20;
/// The files are looked at when a connection comes, at most so often.
const LOOK: Duration = Duration::from_secs(1);
/// How often a certificate that is not good now is told of.
const TELL: Duration = Duration::from_secs(24 * 3_600);

/// Why a certificate and its key can't be used.
#[derive(Debug, Error)]
pub(crate) enum TlsProblem {
    #[error("{path} can't be read: {source}. Make it a file that the user of Cortex may read", path = .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{path} is larger than a megabyte, which is no certificate and no key", path = .0.display())]
    TooLarge(PathBuf),
    #[error(
        "{path} holds no certificate. It must be PEM, '-----BEGIN CERTIFICATE-----', the robot's own certificate first",
        path = .0.display()
    )]
    NoCertificate(PathBuf),
    #[error(
        "{path} holds no private key. It must be PEM without a password, such as '-----BEGIN PRIVATE KEY-----'",
        path = .0.display()
    )]
    NoKey(PathBuf),
    #[error(
        "the key in {key} does not belong to the first certificate in {certificate}. Name two files that were made together",
        key = .0.key.display(), certificate = .0.certificate.display()
    )]
    Mismatch(TlsFiles),
    #[error("the certificate in {path} can't be used: {problem}. Have a new one made", path = .path.display())]
    Unusable { path: PathBuf, problem: String },
}

/// The certificate as it is now.
pub(crate) struct Tls {
    files: TlsFiles,
    current: Mutex<Current>,
}

struct Current {
    /// The latest that could be used.
    config: Option<Arc<ServerConfig>>,
    validity: Option<Validity>,
    /// What the files were like when they were read.
    seen: [Option<Seen>; 2],
    looked: Instant,
    told: Option<Instant>,
}

/// What tells a file from another one that takes its place.
type Seen = (SystemTime, u64, u64);

/// When a certificate is good, in seconds since 1970.
#[derive(Clone, Copy)]
struct Validity {
    from_s: i64,
    until_s: i64,
}

impl Tls {
    /// Reads the files. Where they can't be used, that is told, and they are tried again when they change. Reads files.
    pub(crate) fn open(files: TlsFiles) -> Self {
        let now = Instant::now();
        let current = Current { config: None, validity: None, seen: [None; 2], looked: now, told: None };
        let tls = Self { files, current: Mutex::new(current) };
        tls.read(seen(&tls.files), now);
        tls
    }

    /// Whether whoever is not on this machine is served.
    pub(crate) fn is_usable(&self) -> bool {
        self.current().config.is_some()
    }

    /// With what the next connection is encrypted. None: it can't be. May read files.
    pub(crate) fn config(&self) -> Option<Arc<ServerConfig>> {
        self.config_at(Instant::now())
    }

    fn config_at(&self, now: Instant) -> Option<Arc<ServerConfig>> {
        let mut current = self.current();
        if now.saturating_duration_since(current.looked) >= LOOK {
            current.looked = now;
            let known = current.seen;
            drop(current);
            let seen = seen(&self.files);
            if seen != known {
                self.read(seen, now);
            }
            current = self.current();
        }
        tell_of_time(&mut current, &self.files.certificate, now);
        current.config.clone()
    }

    fn read(&self, seen: [Option<Seen>; 2], now: Instant) {
        let read = load(&self.files);
        let mut current = self.current();
        current.seen = seen;
        match read {
            Ok((config, validity)) => {
                tracing::info!(certificate = %self.files.certificate.display(), "the page is encrypted with this certificate");
                current.config = Some(Arc::new(config));
                current.validity = Some(validity);
                current.told = None;
                tell_of_time(&mut current, &self.files.certificate, now);
            }
            Err(problem) if current.config.is_some() => {
                tracing::error!("the page goes on with its certificate of before: {problem}");
            }
            Err(problem) => tracing::error!(
                "the page is served to this machine alone, since it can't be encrypted: {problem}. The files are read again \
                 when they change"
            ),
        }
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says when the certificate is not good at this time. It is used nevertheless: the clock of a robot may be wrong, browsers
/// decide for themselves, and STOP is not taken from those who are there.
fn tell_of_time(current: &mut Current, certificate: &Path, now: Instant) {
    let Some(validity) = current.validity else { return };
    if current.told.is_some_and(|told| now.saturating_duration_since(told) < TELL) {
        return;
    }
    let now_s = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let now_s = i64::try_from(now_s).unwrap_or(i64::MAX);
    let words = match now_s {
        now_s if now_s > validity.until_s => "has expired: browsers refuse it. Renew it",
        now_s if now_s < validity.from_s => "is not good yet: browsers refuse it. Look at the clock of this machine",
        _ => return,
    };
    tracing::error!("the certificate in {} {words}; the new file is used without a restart", certificate.display());
    current.told = Some(now);
}

fn load(files: &TlsFiles) -> Result<(ServerConfig, Validity), TlsProblem> {
    let (certificate_text, key_text) = (read(&files.certificate)?, read(&files.key)?);
    let no_certificate = || TlsProblem::NoCertificate(files.certificate.clone());
    let chain: Result<Vec<CertificateDer<'static>>, _> = CertificateDer::pem_slice_iter(&certificate_text).collect();
    let chain = chain.map_err(|_| no_certificate())?;
    let first = chain.first().ok_or_else(no_certificate)?;
    let unusable = |problem: String| TlsProblem::Unusable { path: files.certificate.clone(), problem };
    let (_, parsed) = parse_x509_certificate(first).map_err(|error| unusable(error.to_string()))?;
    let validity = parsed.validity();
    let validity = Validity { from_s: validity.not_before.timestamp(), until_s: validity.not_after.timestamp() };
    let key = PrivateKeyDer::from_pem_slice(&key_text).map_err(|_| TlsProblem::NoKey(files.key.clone()))?;
    if fs::metadata(&files.key).is_ok_and(|about| about.permissions().mode() & 0o004 != 0) {
        tracing::warn!("everybody on this machine may read the key in {}: take that right away", files.key.display());
    }
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(chain, key);
    let mut config = config.map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => TlsProblem::Mismatch(files.clone()),
        other => unusable(other.to_string()),
    })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok((config, validity))
}

/// A file, within bounds. What is no file, such as a pipe, is not waited for.
fn read(path: &Path) -> Result<Vec<u8>, TlsProblem> {
    let unreadable = |source| TlsProblem::Unreadable { path: path.to_owned(), source };
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(unreadable(io::Error::new(io::ErrorKind::InvalidInput, "it is no file")));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(FILE_BYTES + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 > FILE_BYTES { Err(TlsProblem::TooLarge(path.to_owned())) } else { Ok(bytes) }
}

fn seen(files: &TlsFiles) -> [Option<Seen>; 2] {
    [&files.certificate, &files.key].map(|path| {
        let about = fs::metadata(path).ok()?;
        Some((about.modified().ok()?, about.len(), about.ino()))
    })
}
