//! What of a reply can be used: one vector for each text, of the dimension that was agreed on, of finite numbers.

use serde::Deserialize;
use thiserror::Error;

/// Why a reply can't be used.
#[derive(Debug, PartialEq, Eq, Error)]
pub(crate) enum ReplyFlaw {
    #[error("the reply is no list of vectors: {0}")]
    NotVectors(String),
    #[error("the reply has {found} vectors for {texts} texts")]
    Count { found: usize, texts: usize },
    #[error("the reply has no vector of its own for each text: the index {0} is there twice, or too large")]
    Index(usize),
    #[error(
        "its vectors have {found} numbers, and embedding.dimension is {dimension}; write {found} there, or choose the model that fits"
    )]
    Dimension { found: usize, dimension: usize },
    #[error("the reply has a vector without a direction: its numbers are all 0, or without end")]
    NoDirection,
}

#[derive(Deserialize)]
struct Reply {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    /// Which text: the entries may come in any order.
    index: usize,
    embedding: Vec<f32>,
}

/// The vectors of so many texts, in their order, each of length 1.
pub(crate) fn vectors(body: &[u8], texts: usize, dimension: usize) -> Result<Vec<Vec<f32>>, ReplyFlaw> {
    let reply: Reply = serde_json::from_slice(body).map_err(|problem| ReplyFlaw::NotVectors(problem.to_string()))?;
    if reply.data.len() != texts {
        return Err(ReplyFlaw::Count { found: reply.data.len(), texts });
    }
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; texts];
    for Entry { index, embedding } in reply.data {
        let found = embedding.len();
        if found != dimension {
            return Err(ReplyFlaw::Dimension { found, dimension });
        }
        match vectors.get_mut(index) {
            Some(place @ None) => *place = Some(of_length_1(embedding)?),
            _ => return Err(ReplyFlaw::Index(index)),
        }
    }
    // As many as texts, and none twice: so all are there.
    Ok(vectors.into_iter().flatten().collect())
}

fn of_length_1(mut vector: Vec<f32>) -> Result<Vec<f32>, ReplyFlaw> {
    // In twice the digits: squares of large numbers would have no end.
    let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    if !length.is_normal() {
        return Err(ReplyFlaw::NoDirection);
    }
    for number in &mut vector {
        *number = (f64::from(*number) / length) as f32;
    }
    Ok(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_in_the_order_of_their_texts_and_have_length_1() {
        let body = br#"{"object": "list", "model": "m", "usage": {}, "data": [
            {"object": "embedding", "index": 1, "embedding": [0, 1e30]},
            {"object": "embedding", "index": 0, "embedding": [3, -4.0]}]}"#;
        assert_eq!(vectors(body, 2, 2).unwrap(), [[0.6, -0.8], [0.0, 1.0]]);
    }

    #[test]
    fn what_can_not_be_used_is_told() {
        let of = |data: &str| vectors(format!("{{\"data\": [{data}]}}").as_bytes(), 2, 2).unwrap_err();
        let one = r#"{"index": 0, "embedding": [1, 0]}"#;
        assert_eq!(of(one), ReplyFlaw::Count { found: 1, texts: 2 });
        assert_eq!(of(&format!("{one}, {one}")), ReplyFlaw::Index(0));
        assert_eq!(of(&format!(r#"{one}, {{"index": 2, "embedding": [1, 0]}}"#)), ReplyFlaw::Index(2));
        let dimension = of(&format!(r#"{one}, {{"index": 1, "embedding": [1, 0, 0]}}"#));
        assert!(
            dimension.to_string().contains("3 numbers, and embedding.dimension is 2; write 3 there"),
            "{dimension}"
        );
        for numbers in ["[0, 0]", "[1e-320, 0]"] {
            assert_eq!(
                of(&format!(r#"{one}, {{"index": 1, "embedding": {numbers}}}"#)),
                ReplyFlaw::NoDirection,
                "{numbers}"
            );
        }
        for entry in [
            r#"{"index": 1, "embedding": [NaN, 0]}"#,
            r#"{"index": 1, "embedding": [null, 0]}"#,
            r#"{"index": 1, "embedding": [1e999, 0]}"#,
            r#"{"index": 1, "embedding": [1e39, 0]}"#,
            r#"{"index": -1, "embedding": [1, 0]}"#,
            r#"{"index": 1, "embedding": "AAAAAA=="}"#,
            r#"{"embedding": [1, 0]}"#,
            r#"{"index": 1}"#,
        ] {
            assert!(matches!(of(&format!("{one}, {entry}")), ReplyFlaw::NotVectors(_)), "{entry}");
        }
        for body in ["", "<html>", "[]", "{}", r#"{"data": null}"#, r#"{"error": {"message": "busy"}}"#] {
            assert!(matches!(vectors(body.as_bytes(), 2, 2), Err(ReplyFlaw::NotVectors(_))), "{body}");
        }
    }
}
