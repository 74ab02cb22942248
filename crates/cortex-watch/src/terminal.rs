//! The terminal: taken over, drawn to by a thread of its own, and always given back as it was.

use std::io::{self, IsTerminal as _};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::backend::{Backend as _, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// So long the last picture may take to be drawn before the terminal is given back without it.
const LAST_PICTURE: Duration = Duration::from_millis(500);

/// Whether the terminal is taken over now.
static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// Whether a person sits at a terminal that can show a screen.
pub(crate) fn is_screen() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    io::stdin().is_terminal() && io::stdout().is_terminal() && !is_dumb
}

/// The size of the terminal. None where it is not known.
pub(crate) fn size() -> Option<Rect> {
    let (width, height) = crossterm::terminal::size().ok()?;
    Some(Rect::new(0, 0, width, height))
}

/// What the terminal is to show.
pub(crate) struct Picture {
    /// The whole screen.
    pub(crate) cells: Buffer,
    /// Whether nothing is known of what the terminal shows, so that all of it is drawn.
    pub(crate) is_fresh: bool,
}

/// A terminal that is taken over until this is dropped.
pub(crate) struct Screen {
    ended: oneshot::Receiver<io::Result<()>>,
}

impl Screen {
    /// Takes the terminal over. Pictures that are sent to what is returned are drawn; dropping that ends the drawing.
    ///
    /// # Errors
    /// When it is no terminal, or refuses.
    pub(crate) fn take() -> io::Result<(Self, mpsc::Sender<Picture>)> {
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                before(panic);
            }));
        });
        TAKEN.store(true, Ordering::SeqCst);
        let (ends, ended) = oneshot::channel();
        // From here on it is given back whatever happens.
        let screen = Self { ended };
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, Hide)?;
        let (pictures, wanted) = mpsc::channel(1);
        thread::Builder::new().name("watch-draw".to_owned()).spawn(move || {
            // Nobody waits for it any more where the view has ended.
            let _ = ends.send(draw(wanted));
        })?;
        Ok((screen, pictures))
    }

    /// Waits until nothing is drawn any more, but not for a terminal that takes nothing.
    ///
    /// # Errors
    /// What the drawing has failed at.
    pub(crate) async fn ended(mut self) -> io::Result<()> {
        match timeout(LAST_PICTURE, &mut self.ended).await {
            Ok(Ok(drawn)) => drawn,
            Ok(Err(_)) => Err(io::Error::other("the drawing has failed")),
            Err(_) => Ok(()),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Draws on a thread of its own, so that a terminal that takes nothing holds no key up. It asks the terminal nothing: answers
/// would come among the keys, or not at all.
fn draw(mut wanted: mpsc::Receiver<Picture>) -> io::Result<()> {
    let mut terminal = CrosstermBackend::new(io::stdout());
    let mut shown = Buffer::default();
    while let Some(Picture { cells, is_fresh }) = wanted.blocking_recv() {
        if !TAKEN.load(Ordering::SeqCst) {
            return Err(io::Error::other("a part of the program has failed, and the terminal was given back"));
        }
        if is_fresh || cells.area != shown.area {
            terminal.clear()?;
            shown = Buffer::empty(cells.area);
        }
        terminal.draw(shown.diff(&cells).into_iter())?;
        io::Write::flush(&mut terminal)?;
        shown = cells;
    }
    Ok(())
}

/// Gives the terminal back, once.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // Where one of them fails, the terminal is gone.
        let _ = execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}
