//! The files of the page are part of the binary: another file among them makes it anew.

fn main() {
    println!("cargo::rerun-if-changed=assets");
}
