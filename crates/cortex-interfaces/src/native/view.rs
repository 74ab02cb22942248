//! Reading the memory of a message.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::slice;

use super::element::{CBool, Text, WideText};
use super::layout::{ElementLayout, Extent, FieldLayout, Layout, RawSequence};
use crate::MessageType;

/// An initialised message, borrowed.
#[derive(Clone, Copy)]
pub struct MessageView<'a> {
    /// An initialised message of `layout` that nobody changes for `'a`.
    pub(super) base: NonNull<u8>,
    pub(super) layout: &'a Layout,
    pub(super) lifetime: PhantomData<&'a [u8]>,
}

// SAFETY: it only reads, and nothing in it belongs to a thread.
unsafe impl Send for MessageView<'_> {}
// SAFETY: as above.
unsafe impl Sync for MessageView<'_> {}

/// The elements of a field: one for a single value.
#[derive(Clone, Copy)]
pub(crate) enum Values<'a> {
    Boolean(&'a [CBool]),
    Uint8(&'a [u8]),
    Int8(&'a [i8]),
    Uint16(&'a [u16]),
    Int16(&'a [i16]),
    Uint32(&'a [u32]),
    Int32(&'a [i32]),
    Uint64(&'a [u64]),
    Int64(&'a [i64]),
    Float32(&'a [f32]),
    Float64(&'a [f64]),
    Text(&'a [Text]),
    WideText(&'a [WideText]),
    Messages(Messages<'a>),
}

/// Messages that lie one after the other.
#[derive(Clone, Copy)]
pub(crate) struct Messages<'a> {
    base: NonNull<u8>,
    count: usize,
    layout: &'a Layout,
    lifetime: PhantomData<&'a [u8]>,
}

impl<'a> MessageView<'a> {
    /// Its type.
    #[must_use]
    pub fn message_type(self) -> &'a MessageType {
        &self.layout.message_type
    }

    /// The elements of the field at that place in the type.
    pub(crate) fn values(self, index: usize) -> Option<Values<'a>> {
        let field = self.layout.fields.get(index)?;
        // SAFETY: `introspection` checked that the field lies within the message and is aligned.
        let start = unsafe { self.base.add(field.offset) };
        let (start, count) = match field.extent {
            Extent::InPlace(count) => (start, count),
            Extent::Sequence(_) => {
                // SAFETY: the field of an initialised message; it is aligned and nobody changes it for `'a`.
                let sequence = unsafe { start.cast::<RawSequence>().as_ref() };
                match NonNull::new(sequence.data.cast::<u8>()) {
                    Some(data) => (data, sequence.size),
                    None => (NonNull::dangling(), 0),
                }
            }
        };
        Some(elements(field, start, count))
    }
}

/// `start` must point to `count` initialised elements of the field that nobody changes for `'a`, unless `count` is zero;
/// all callers are in this file.
fn elements<'a>(field: &'a FieldLayout, start: NonNull<u8>, count: usize) -> Values<'a> {
    /// The elements as what they are.
    fn of<'a, T>(start: NonNull<u8>, count: usize) -> &'a [T] {
        if count == 0 {
            return &[];
        }
        // SAFETY: see `elements`; the kind of the field says that they are of type `T`.
        unsafe { slice::from_raw_parts(start.cast().as_ptr(), count) }
    }
    match &field.element {
        ElementLayout::Boolean => Values::Boolean(of(start, count)),
        ElementLayout::Uint8 => Values::Uint8(of(start, count)),
        ElementLayout::Int8 => Values::Int8(of(start, count)),
        ElementLayout::Uint16 => Values::Uint16(of(start, count)),
        ElementLayout::Int16 => Values::Int16(of(start, count)),
        ElementLayout::Uint32 => Values::Uint32(of(start, count)),
        ElementLayout::Int32 => Values::Int32(of(start, count)),
        ElementLayout::Uint64 => Values::Uint64(of(start, count)),
        ElementLayout::Int64 => Values::Int64(of(start, count)),
        ElementLayout::Float32 => Values::Float32(of(start, count)),
        ElementLayout::Float64 => Values::Float64(of(start, count)),
        ElementLayout::Text => Values::Text(of(start, count)),
        ElementLayout::WideText => Values::WideText(of(start, count)),
        ElementLayout::Message(layout) => {
            Values::Messages(Messages { base: start, count, layout, lifetime: PhantomData })
        }
    }
}

impl<'a> Messages<'a> {
    pub(crate) fn len(self) -> usize {
        self.count
    }

    pub(crate) fn get(self, index: usize) -> Option<MessageView<'a>> {
        (index < self.count).then(|| MessageView {
            // SAFETY: one of the `count` messages that lie one after the other.
            base: unsafe { self.base.add(index * self.layout.size) },
            layout: self.layout,
            lifetime: PhantomData,
        })
    }
}
