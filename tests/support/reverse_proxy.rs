//! A reverse proxy before a page.

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Longest head of a request, in bytes. A browser's are far shorter.
const HEAD: u64 = 64 * 1024;

/// A reverse proxy before a page, as people put one there for TLS: whoever comes through it is at another machine. It says
/// so in each request, has each connection carry one request, and lets a WebSocket through.
pub struct ReverseProxy {
    address: String,
    task: tokio::task::JoinHandle<()>,
}

impl ReverseProxy {
    /// Starts it before the page at this address (`http://HOST:PORT/`).
    ///
    /// # Panics
    /// When no port can be had.
    pub async fn start(page: &str) -> Self {
        let page = page.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = format!("http://{}/", listener.local_addr().expect("it has an address"));
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let page = page.clone();
                // Whoever closes a window in mid answer leaves an error here, which nobody needs.
                tokio::spawn(async move { drop(pass(client, &page).await) });
            }
        });
        Self { address, task }
    }

    /// Where a browser finds it.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for ReverseProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pass(client: TcpStream, page: &str) -> std::io::Result<()> {
    let mut server = TcpStream::connect(page).await?;
    let mut client = BufReader::new(client);
    let mut head = String::new();
    let mut is_upgrade = false;
    loop {
        let mut line = String::new();
        if (&mut client).take(HEAD).read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let lower = line.to_ascii_lowercase();
        is_upgrade |= lower.starts_with("upgrade:");
        match line.trim_end() {
            "" => break,
            _ if lower.starts_with("connection:") => {}
            _ => head.push_str(&line),
        }
    }
    let connection = if is_upgrade { "Upgrade" } else { "close" };
    head.push_str(&format!("Connection: {connection}\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n"));
    server.write_all(head.as_bytes()).await?;
    tokio::io::copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}
