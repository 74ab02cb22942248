//! The archive, written as it goes: nothing but the text files is in memory as a whole.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use cortex_core::{IncidentPort, TopicSlice};
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, Header};

use super::bag::{self, Bag};

/// Files of a tar archive are filled up to a multiple of this.
const BLOCK: u64 = 512;

pub(super) const READ_ME: &str = "\
What happened in one mission of a robot with Cortex, kept by a person to be looked into.

tape.jsonl          The mission's tape: everything that Cortex was given and wanted done, with the prompts and the
                    replies of the model. `cortex tape play tape.jsonl` shows it on the page, without a robot.
                    Missing where missions are not recorded. Of a mission that goes on, what was written so far.
report.md           The same for people.
overview.json       The live status when this was kept: components with their health, missions, calls, stop, controls.
questions.json      What people were being asked then.
tools.json          What the robot could be asked to do then, with the schemas.
versions.json       Which Cortex, which robot, which mission, and when this was kept.
configuration.toml  The configuration that Cortex ran with, all layers together.
recipe.toml         The recipe that Cortex brought the robot up with. Missing where it was started without one.
cortex.log          The end of the log of this Cortex. Missing where it writes none to a file.
log.jsonl           The newest lines that the robot's nodes had logged on /rosout, one a line.
topics              The latest messages of chosen topics until this was kept, as a bag: `ros2 bag info topics`,
                    `ros2 bag play topics`; Foxglove opens topics/topics_0.mcap. Missing where there were none.
topics.json         Which topics that are, how many messages, and which were chosen and left out, with the reason.

Values in configuration and recipe that look like secrets read \"(left out)\". What people said to the robot, what its
tools returned, what its nodes logged and sent is in here as it was. Hand it on accordingly.
";

/// What goes into the archive.
pub(super) struct Contents {
    pub(super) folder: String,
    pub(super) texts: Vec<(&'static str, String)>,
    pub(super) kept: Option<Arc<dyn IncidentPort>>,
    pub(super) slice: TopicSlice,
    /// When the slice was taken, in nanoseconds since 1970.
    pub(super) saved_ns: u64,
    pub(super) tape: Option<PathBuf>,
}

impl Contents {
    /// Writes the archive. Whoever reads one that breaks off is told so by its end, which is missing. Blocks.
    pub(super) fn write<W: Write>(&self, writer: W) -> io::Result<W> {
        let mut archive = Archive {
            files: Builder::new(GzEncoder::new(writer, Compression::fast())),
            folder: &self.folder,
            at_s: self.saved_ns / 1_000_000_000,
        };
        for (name, text) in &self.texts {
            archive.text(name, text)?;
        }
        for file in self.kept.iter().flat_map(|kept| kept.texts()) {
            archive.text(file.name, &file.text)?;
        }
        if let Some(bag) = Bag::of(&self.slice, self.saved_ns) {
            archive.text(&format!("{}/{}", bag::FOLDER, bag::METADATA), &bag.metadata())?;
            archive.bag(&bag)?;
        }
        if let Some(tape) = &self.tape {
            let file = std::fs::File::open(tape)?;
            let bytes = file.metadata()?.len();
            // A mission that goes on writes more meanwhile.
            archive.file("tape.jsonl", bytes, io::Read::take(file, bytes))?;
        }
        archive.files.into_inner()?.finish()
    }
}

struct Archive<'a, W: Write> {
    files: Builder<GzEncoder<W>>,
    folder: &'a str,
    at_s: u64,
}

impl<W: Write> Archive<'_, W> {
    fn text(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.file(name, text.len() as u64, text.as_bytes())
    }

    fn file(&mut self, name: &str, bytes: u64, content: impl Read) -> io::Result<()> {
        let mut header = self.header(bytes);
        self.files.append_data(&mut header, format!("{}/{name}", self.folder), content)
    }

    /// Written twice, first to know its size: so it is never in memory as a whole.
    fn bag(&mut self, bag: &Bag<'_>) -> io::Result<()> {
        let bytes = bag.bytes()?;
        let mut header = self.header(bytes);
        header.set_path(format!("{}/{}/{}", self.folder, bag::FOLDER, bag::MESSAGES))?;
        header.set_cksum();
        let writer = self.files.get_mut();
        writer.write_all(header.as_bytes())?;
        bag.write(&mut *writer)?;
        let fill = usize::try_from((BLOCK - bytes % BLOCK) % BLOCK).unwrap_or_default();
        writer.write_all([0; BLOCK as usize].get(..fill).unwrap_or_default())
    }

    fn header(&self, bytes: u64) -> Header {
        let mut header = Header::new_gnu();
        header.set_size(bytes);
        header.set_mode(0o600);
        header.set_mtime(self.at_s);
        header
    }
}
