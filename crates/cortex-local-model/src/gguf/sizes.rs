//! How many bytes numbers take in each of the formats of ggml.

/// Numbers of a block, and the bytes that it takes. None: the format is not known.
fn block(format: u32) -> Option<(u64, u64)> {
    Some(match format {
        0 | 26 => (1, 4),
        1 | 25 | 30 => (1, 2),
        2 | 20 => (32, 18),
        3 => (32, 20),
        6 => (32, 22),
        7 => (32, 24),
        8 => (32, 34),
        9 => (32, 36),
        10 => (256, 84),
        11 | 21 => (256, 110),
        12 => (256, 144),
        13 => (256, 176),
        14 => (256, 210),
        15 => (256, 292),
        16 | 35 => (256, 66),
        17 => (256, 74),
        18 => (256, 98),
        19 => (256, 50),
        22 => (256, 82),
        23 => (256, 136),
        24 => (1, 1),
        27 | 28 => (1, 8),
        29 => (256, 56),
        34 => (256, 54),
        39 => (32, 17),
        _ => return None,
    })
}

/// The bytes of so many numbers. Of a format that is not known: none, which is the least that can be said.
pub(super) fn bytes(format: u32, numbers: u64) -> Option<u64> {
    let Some((of_block, size)) = block(format) else { return Some(0) };
    numbers.div_ceil(of_block).checked_mul(size)
}
