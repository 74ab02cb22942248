//! Writing to the memory of a message.
//!
//! Lists of unknown length grow as their elements arrive. At every moment `size` and `capacity` of a sequence say how
//! many elements are initialised, so that the message can be finalised whatever happens; the block on the heap may be
//! larger. It comes from the allocator that the generated code uses, and elements are moved as that code moves them.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::slice;

use r2r_rcl::rcutils_allocator_t;
use r2r_rcl::rosidl_runtime_c__message_initialization::ROSIDL_RUNTIME_C_MSG_INIT_ALL;

use super::element::{CBool, Element, Text, WideText};
use super::layout::{ElementLayout, Extent, FieldLayout, Layout, RawSequence, ResizeFunction};
use crate::MessageType;

/// The room that a growing sequence starts with, in elements.
const FIRST_ROOM: usize = 4;

/// An initialised message, borrowed for writing.
pub(crate) struct MessageMut<'a> {
    /// An initialised message of `layout` that nobody else uses for `'a`.
    pub(super) base: NonNull<u8>,
    pub(super) layout: &'a Layout,
    pub(super) lifetime: PhantomData<&'a mut [u8]>,
}

/// The elements of a field, to be written one after the other.
pub(crate) enum Target<'a> {
    Boolean(Slots<'a, CBool>),
    Uint8(Slots<'a, u8>),
    Int8(Slots<'a, i8>),
    Uint16(Slots<'a, u16>),
    Int16(Slots<'a, i16>),
    Uint32(Slots<'a, u32>),
    Int32(Slots<'a, i32>),
    Uint64(Slots<'a, u64>),
    Int64(Slots<'a, i64>),
    Float32(Slots<'a, f32>),
    Float64(Slots<'a, f64>),
    Text(Slots<'a, Text>),
    WideText(Slots<'a, WideText>),
    Messages(MessageSlots<'a>),
}

/// Places for elements of one type.
pub(crate) enum Slots<'a, T> {
    InPlace(slice::IterMut<'a, T>),
    Growing(Growing<'a, T>),
}

/// Places for messages.
pub(crate) enum MessageSlots<'a> {
    InPlace { base: NonNull<u8>, left: usize, layout: &'a Layout, lifetime: PhantomData<&'a mut [u8]> },
    Growing { block: Block<'a>, layout: &'a Layout },
}

/// A sequence that grows.
pub(crate) struct Growing<'a, T> {
    block: Block<'a>,
    elements: PhantomData<T>,
}

/// A sequence and the block on the heap that it lies in.
pub(crate) struct Block<'a> {
    sequence: &'a mut RawSequence,
    /// How many elements fit into the block; at least `sequence.capacity`.
    room: usize,
    element_size: usize,
    allocator: rcutils_allocator_t,
}

impl<'a> MessageMut<'a> {
    pub(crate) fn message_type(&self) -> &'a MessageType {
        &self.layout.message_type
    }

    pub(crate) fn reborrow(&mut self) -> MessageMut<'_> {
        MessageMut { base: self.base, layout: self.layout, lifetime: PhantomData }
    }

    /// Bytes of one element of the field, without what it points to.
    pub(crate) fn element_size(&self, index: usize) -> usize {
        self.layout.fields.get(index).map_or(0, |field| field.element.size())
    }

    /// Exchanges the message in a field that holds one with another of its type. False, and nothing was done, when there
    /// is no such field or the type is another.
    pub(crate) fn exchange(&mut self, index: usize, other: &mut MessageMut<'_>) -> bool {
        let Some(field) = self.layout.fields.get(index) else { return false };
        let (ElementLayout::Message(layout), Extent::InPlace(1)) = (&field.element, &field.extent) else {
            return false;
        };
        if !ptr::eq(&raw const **layout, other.layout) {
            return false;
        }
        // SAFETY: `introspection` checked that the field lies within the message. Both are initialised messages of one
        // layout in two blocks of memory, and messages may be moved: nothing in them points into themselves.
        unsafe { ptr::swap_nonoverlapping(self.base.add(field.offset).as_ptr(), other.base.as_ptr(), layout.size) };
        true
    }

    /// The places of the field's elements. The elements of a sequence are finalised first: it is empty, and grows. None
    /// when there is no such field or no memory.
    pub(crate) fn target(&mut self, index: usize) -> Option<Target<'_>> {
        let field = self.layout.fields.get(index)?;
        // SAFETY: `introspection` checked that the field lies within the message and is aligned.
        let start = unsafe { self.base.add(field.offset) };
        target(field, start)
    }
}

/// `start` must point to the field of an initialised message that nobody else uses for `'a`; its caller is in this file.
fn target<'a>(field: &'a FieldLayout, start: NonNull<u8>) -> Option<Target<'a>> {
    /// The places of elements of type `T`.
    fn of<'a, T: Element>(field: &FieldLayout, start: NonNull<u8>) -> Option<Slots<'a, T>> {
        Some(match field.extent {
            Extent::InPlace(count) => {
                // SAFETY: see `target`; the kind of the field says that there are `count` elements of type `T`.
                Slots::InPlace(unsafe { slice::from_raw_parts_mut(start.cast().as_ptr(), count) }.iter_mut())
            }
            Extent::Sequence(resize) => {
                Slots::Growing(Growing { block: Block::emptied(start, resize, size_of::<T>())?, elements: PhantomData })
            }
        })
    }
    Some(match &field.element {
        ElementLayout::Boolean => Target::Boolean(of(field, start)?),
        ElementLayout::Uint8 => Target::Uint8(of(field, start)?),
        ElementLayout::Int8 => Target::Int8(of(field, start)?),
        ElementLayout::Uint16 => Target::Uint16(of(field, start)?),
        ElementLayout::Int16 => Target::Int16(of(field, start)?),
        ElementLayout::Uint32 => Target::Uint32(of(field, start)?),
        ElementLayout::Int32 => Target::Int32(of(field, start)?),
        ElementLayout::Uint64 => Target::Uint64(of(field, start)?),
        ElementLayout::Int64 => Target::Int64(of(field, start)?),
        ElementLayout::Float32 => Target::Float32(of(field, start)?),
        ElementLayout::Float64 => Target::Float64(of(field, start)?),
        ElementLayout::Text => Target::Text(of(field, start)?),
        ElementLayout::WideText => Target::WideText(of(field, start)?),
        ElementLayout::Message(layout) => Target::Messages(match field.extent {
            Extent::InPlace(left) => MessageSlots::InPlace { base: start, left, layout, lifetime: PhantomData },
            Extent::Sequence(resize) => {
                MessageSlots::Growing { block: Block::emptied(start, resize, layout.size)?, layout }
            }
        }),
    })
}

impl<T: Element> Slots<'_, T> {
    /// Makes room for so many more, if that is known. Only a help: [`Self::next`] makes room, too.
    pub(crate) fn reserve(&mut self, count: usize) {
        if let Self::Growing(growing) = self {
            growing.block.reserve(count);
        }
    }

    /// The next element: that of a fixed list, or a new one. None when a fixed list has no more, or there is no memory.
    pub(crate) fn next(&mut self) -> Option<&mut T> {
        match self {
            Self::InPlace(elements) => elements.next(),
            Self::Growing(growing) => growing.push(),
        }
    }
}

impl<T: Element> Growing<'_, T> {
    fn push(&mut self) -> Option<&mut T> {
        let place: *mut T = self.block.place()?.cast().as_ptr();
        // SAFETY: `place` is aligned room within the block that is not initialised yet.
        if !unsafe { T::init(place) } {
            return None;
        }
        self.block.initialised_one();
        // SAFETY: initialised just now, and borrowed from a block that is borrowed itself.
        Some(unsafe { &mut *place })
    }
}

impl MessageSlots<'_> {
    /// See [`Slots::reserve`].
    pub(crate) fn reserve(&mut self, count: usize) {
        if let Self::Growing { block, .. } = self {
            block.reserve(count);
        }
    }

    /// See [`Slots::next`].
    pub(crate) fn next(&mut self) -> Option<MessageMut<'_>> {
        match self {
            Self::InPlace { base, left, layout, .. } => {
                *left = left.checked_sub(1)?;
                let place = *base;
                // SAFETY: there was one left, so its end is at most the end of the field.
                *base = unsafe { place.add(layout.size) };
                Some(MessageMut { base: place, layout, lifetime: PhantomData })
            }
            Self::Growing { block, layout } => {
                let place = block.place()?;
                // SAFETY: room for one message, which is aligned as `malloc` aligns.
                unsafe {
                    ptr::write_bytes(place.as_ptr(), 0, layout.size);
                    (layout.init)(place.as_ptr().cast(), ROSIDL_RUNTIME_C_MSG_INIT_ALL);
                }
                block.initialised_one();
                Some(MessageMut { base: place, layout, lifetime: PhantomData })
            }
        }
    }
}

impl Block<'_> {
    /// The sequence at `start`, with its elements finalised. None when that fails.
    ///
    /// `start` must point to an initialised sequence whose elements have that size and that nobody else uses; all
    /// callers are in this file.
    fn emptied<'a>(start: NonNull<u8>, resize: ResizeFunction, element_size: usize) -> Option<Block<'a>> {
        let sequence: *mut RawSequence = start.cast().as_ptr();
        // SAFETY: the generated function that belongs to the sequence.
        if !unsafe { resize(sequence.cast(), 0) } {
            return None;
        }
        // SAFETY: aligned and initialised; nobody else uses it.
        let sequence = unsafe { &mut *sequence };
        if !sequence.data.is_null() || element_size == 0 {
            return None;
        }
        // SAFETY: returns a plain value by copy; needs no set-up.
        let allocator = unsafe { r2r_rcl::rcutils_get_default_allocator() };
        Some(Block { sequence, room: 0, element_size, allocator })
    }

    fn reserve(&mut self, count: usize) {
        if let Some(room) = self.sequence.size.checked_add(count).filter(|room| *room > self.room) {
            self.grow_to(room);
        }
    }

    /// Where the next element belongs: uninitialised memory.
    fn place(&mut self) -> Option<NonNull<u8>> {
        let index = self.sequence.size;
        if index >= self.room {
            self.grow_to(self.room.checked_mul(2)?.max(FIRST_ROOM));
        }
        let data = NonNull::new(self.sequence.data.cast::<u8>()).filter(|_| index < self.room)?;
        // SAFETY: the block has room for more than `index` elements.
        Some(unsafe { data.add(index * self.element_size) })
    }

    /// The element at [`Self::place`] is initialised now.
    fn initialised_one(&mut self) {
        self.sequence.size += 1;
        self.sequence.capacity = self.sequence.size;
    }

    /// Does nothing when there is no memory.
    ///
    /// A sequence that has a block but no element yet would break what the generated code expects (`data` without
    /// `capacity`), so a new block is held back until its first element is there; see `drop`.
    fn grow_to(&mut self, room: usize) {
        let Some(bytes) = room.checked_mul(self.element_size).filter(|bytes| isize::try_from(*bytes).is_ok()) else {
            return;
        };
        let Some(reallocate) = self.allocator.reallocate else { return };
        // SAFETY: `data` is null or a block of this allocator; it is not used again if this succeeds.
        let data: *mut c_void = unsafe { reallocate(self.sequence.data, bytes, self.allocator.state) };
        if !data.is_null() {
            self.sequence.data = data;
            self.room = room;
        }
    }
}

impl Drop for Block<'_> {
    /// The generated code expects that a sequence without elements has no block.
    fn drop(&mut self) {
        if self.sequence.size == 0 && !self.sequence.data.is_null() {
            if let Some(deallocate) = self.allocator.deallocate {
                // SAFETY: a block of this allocator, which is not used again.
                unsafe { deallocate(self.sequence.data, self.allocator.state) };
            }
            self.sequence.data = ptr::null_mut();
        }
    }
}
