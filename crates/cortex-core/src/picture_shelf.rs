//! The last pictures that tools took, for models that see them. A conversation, its record and its feedback name a picture;
//! its file lies here alone, and only as long as there is room.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cortex_protocol::PictureRef;
use sha2::{Digest as _, Sha256};

/// Most pictures that are kept, and most bytes of all their files.
const MOST_PICTURES: usize = 32;
const MOST_BYTES: usize = 64 << 20;
/// Digits of an id.
const ID_DIGITS: usize = 16;

/// A picture as a file.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// What took it: the topic of a camera.
    pub source: String,
    /// `image/jpeg` or `image/png`.
    pub media_type: &'static str,
    /// Width and height in pixels, as the camera took it. The file may be smaller.
    pub size: (u32, u32),
    /// The file.
    pub file: Vec<u8>,
}

impl fmt::Debug for Picture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, media_type, size, file } = self;
        write!(formatter, "Picture({media_type} of {source}, {size:?}, {} bytes)", file.len())
    }
}

/// Pictures with their ids, the latest last.
type Kept = VecDeque<(String, Arc<Picture>)>;

/// The pictures. Clones share them. When there is no more room, the oldest one goes.
#[derive(Debug, Clone, Default)]
pub struct PictureShelf {
    kept: Arc<Mutex<Kept>>,
}

impl PictureShelf {
    /// Keeps a picture, and says by what it is found.
    pub fn keep(&self, picture: Picture) -> PictureRef {
        let mut id: String = Sha256::digest(&picture.file).iter().map(|byte| format!("{byte:02x}")).collect();
        id.truncate(ID_DIGITS);
        let (width, height) = picture.size;
        let named = PictureRef {
            id: id.clone(),
            source: picture.source.clone(),
            media_type: picture.media_type.to_owned(),
            width,
            height,
        };
        let mut kept = self.kept();
        kept.retain(|(known, _)| *known != id);
        kept.push_back((id, Arc::new(picture)));
        let bytes = |kept: &Kept| -> usize { kept.iter().map(|(_, picture)| picture.file.len()).sum() };
        while kept.len() > MOST_PICTURES || bytes(&kept) > MOST_BYTES {
            kept.pop_front();
        }
        named
    }

    /// The picture of this id, if it is still there.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<Arc<Picture>> {
        self.kept().iter().find(|(known, _)| known == id).map(|(_, picture)| Arc::clone(picture))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(file: Vec<u8>) -> Picture {
        Picture { source: "/camera".to_owned(), media_type: "image/jpeg", size: (4, 3), file }
    }

    #[test]
    fn a_picture_is_found_by_what_it_shows_until_there_is_no_room() {
        let shelf = PictureShelf::default();
        let first = shelf.keep(picture(vec![0]));
        assert_eq!((first.id.as_str(), first.width, first.height), ("6e340b9cffb37a98", 4, 3));
        assert_eq!(shelf.keep(picture(vec![0])).id, first.id);
        for number in 1..u8::try_from(MOST_PICTURES).unwrap() {
            shelf.keep(picture(vec![number]));
        }
        assert_eq!(shelf.find(&first.id).unwrap().file, [0], "kept once, however often it was taken");
        shelf.keep(picture(vec![u8::MAX]));
        assert_eq!(shelf.find(&first.id), None, "the oldest one goes");
    }

    #[test]
    fn large_pictures_leave_room_for_fewer_and_one_that_is_too_large_is_not_kept() {
        let shelf = PictureShelf::default();
        let first = shelf.keep(picture(vec![1; MOST_BYTES / 2]));
        let second = shelf.keep(picture(vec![2; MOST_BYTES / 2 + 1]));
        assert!(shelf.find(&first.id).is_none() && shelf.find(&second.id).is_some());
        let huge = shelf.keep(picture(vec![3; MOST_BYTES + 1]));
        assert!(shelf.find(&huge.id).is_none() && shelf.find(&second.id).is_none());
    }
}
