//! The model itself: near is what means the same, and a file that is none is refused.

use cortex_core::{Embedder as _, likeness};
use cortex_embedding::LocalEmbedder;

use crate::{embedder, folder};

async fn vectors(texts: &[&str]) -> Vec<Vec<f32>> {
    embedder().embed(texts.iter().map(|text| (*text).to_owned()).collect()).await.expect("vectors")
}

#[tokio::test]
async fn what_means_the_same_is_nearer_than_what_shares_words() {
    let [asked, meant, worded] = vectors(&[
        "Somebody is ill, get a physician to the ward!",
        "Call a doctor when a patient feels sick.",
        "Somebody has to get a key to the ward from the porter.",
    ])
    .await
    .try_into()
    .expect("three");
    assert!(likeness(&asked, &meant) > likeness(&asked, &worded));
}

#[tokio::test]
async fn a_vector_has_length_one_and_does_not_depend_on_what_is_computed_beside_it() {
    let long = "go to the kitchen and then ".repeat(2_000);
    let texts = ["", "go to the kitchen", "🫖 \u{0} \u{202e}", long.as_str()];
    let together = vectors(&texts).await;
    for (text, beside) in texts.iter().zip(&together) {
        let alone = vectors(&[text]).await.remove(0);
        assert_eq!(alone.len(), 384);
        assert!((likeness(&alone, &alone) - 1.0).abs() < 1e-4, "{text:.20}");
        assert!((likeness(&alone, beside) - 1.0).abs() < 1e-4, "{text:.20}");
    }
}

#[test]
fn weights_that_are_cut_or_of_other_sizes_are_refused_with_what_to_do() {
    let copy = tempfile::tempdir().expect("a folder");
    let (from, to) = (folder(), copy.path());
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        std::fs::copy(from.join(name), to.join(name)).expect("a copy");
    }
    let config = std::fs::read_to_string(to.join("config.json")).expect("the sizes");
    let problem = |what: &str| {
        let problem = LocalEmbedder::open(to).map(|_| ()).expect_err(what).to_string();
        assert!(problem.contains("can't be used") && problem.contains("all-MiniLM-L6-v2"), "{problem}");
    };
    for (written, other) in [
        ("\"hidden_size\": 384", "\"hidden_size\": 768"),
        ("\"num_hidden_layers\": 6", "\"num_hidden_layers\": 60"),
        ("\"vocab_size\": 30522", "\"vocab_size\": 10"),
    ] {
        let changed = config.replace(written, other);
        assert_ne!(changed, config, "{written}");
        std::fs::write(to.join("config.json"), changed).expect("other sizes");
        problem(other);
    }
    std::fs::write(to.join("config.json"), &config).expect("the right sizes");
    let weights = std::fs::read(from.join("model.safetensors")).expect("the weights");
    for bytes in [&weights[..weights.len() / 2], &weights[..9], &[0xff; 64]] {
        std::fs::write(to.join("model.safetensors"), bytes).expect("cut weights");
        problem("cut weights");
    }
}
