//! How a type of message lies in memory.

use std::ffi::c_void;
use std::sync::Arc;

use r2r_rcl::rosidl_runtime_c__message_initialization as Initialization;

use crate::MessageType;
use crate::model::Arity;

/// Every C message fits this alignment: `malloc` gives no other, and the generated code allocates with it.
pub(super) const ALIGNMENT: usize = 16;

/// The generated function that makes a valid message out of memory. The second argument is passed over by all of them.
pub(super) type InitFunction = unsafe extern "C" fn(*mut c_void, Initialization);
/// The generated function that frees what a message points to.
pub(super) type FiniFunction = unsafe extern "C" fn(*mut c_void);
/// The generated function that finalises the elements of a sequence and makes so many new ones.
pub(super) type ResizeFunction = unsafe extern "C" fn(*mut c_void, usize) -> bool;

/// A type of message in memory. Only `introspection` makes one; everything unsafe relies on it.
pub(crate) struct Layout {
    pub(super) size: usize,
    pub(super) alignment: usize,
    pub(super) init: InitFunction,
    pub(super) fini: FiniFunction,
    /// In the order of the fields of `message_type`.
    pub(super) fields: Box<[FieldLayout]>,
    pub(super) message_type: Arc<MessageType>,
}

/// A field in memory. It lies within the message and is aligned for its elements.
pub(crate) struct FieldLayout {
    pub(super) offset: usize,
    pub(super) element: ElementLayout,
    pub(super) extent: Extent,
}

/// How many elements there are, and where.
pub(super) enum Extent {
    /// That many, in the message itself.
    InPlace(usize),
    /// On the heap, behind a [`RawSequence`].
    Sequence(ResizeFunction),
}

/// What one element is.
pub(super) enum ElementLayout {
    Boolean,
    Uint8,
    Int8,
    Uint16,
    Int16,
    Uint32,
    Int32,
    Uint64,
    Int64,
    Float32,
    Float64,
    Text,
    WideText,
    Message(Arc<Layout>),
}

/// What every generated sequence begins with: `rosidl_runtime_c__*__Sequence` in `rosidl_runtime_c/primitives_sequence.h`
/// and `<package>__msg__<Name>__Sequence` in the generated headers.
#[repr(C)]
pub(super) struct RawSequence {
    pub(super) data: *mut c_void,
    pub(super) size: usize,
    pub(super) capacity: usize,
}

const _: () = {
    use r2r_rcl::rosidl_runtime_c__String__Sequence as Generated;
    use std::mem::offset_of;
    assert!(offset_of!(RawSequence, data) == offset_of!(Generated, data));
    assert!(offset_of!(RawSequence, size) == offset_of!(Generated, size));
    assert!(offset_of!(RawSequence, capacity) == offset_of!(Generated, capacity));
    assert!(size_of::<RawSequence>() == size_of::<Generated>());
};

impl Layout {
    /// What the message means.
    pub(crate) fn message_type(&self) -> &Arc<MessageType> {
        &self.message_type
    }
}

impl ElementLayout {
    /// Bytes of one element.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Boolean | Self::Uint8 | Self::Int8 => 1,
            Self::Uint16 | Self::Int16 => 2,
            Self::Uint32 | Self::Int32 | Self::Float32 => 4,
            Self::Uint64 | Self::Int64 | Self::Float64 => 8,
            Self::Text => size_of::<super::element::Text>(),
            Self::WideText => size_of::<super::element::WideText>(),
            Self::Message(layout) => layout.size,
        }
    }

    /// The alignment of one element.
    pub(super) fn alignment(&self) -> usize {
        match self {
            Self::Text => align_of::<super::element::Text>(),
            Self::WideText => align_of::<super::element::WideText>(),
            Self::Message(layout) => layout.alignment,
            _ => self.size(),
        }
    }
}

impl FieldLayout {
    /// Bytes that the field takes in the message; none where that is more than can be.
    pub(super) fn size(&self) -> Option<usize> {
        match self.extent {
            Extent::InPlace(count) => self.element.size().checked_mul(count),
            Extent::Sequence(_) => Some(size_of::<RawSequence>()),
        }
    }

    pub(super) fn alignment(&self) -> usize {
        match self.extent {
            Extent::InPlace(_) => self.element.alignment(),
            Extent::Sequence(_) => align_of::<RawSequence>(),
        }
    }
}

impl Extent {
    pub(super) fn new(arity: Arity, resize: Option<ResizeFunction>) -> Option<Self> {
        match arity {
            Arity::One => Some(Self::InPlace(1)),
            Arity::Array(count) => Some(Self::InPlace(count)),
            Arity::Sequence { .. } => resize.map(Self::Sequence),
        }
    }
}
