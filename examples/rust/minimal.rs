//! The README's Rust example.

use denise::{Error, Model, Options, Outputs};

fn main() -> Result<(), Error> {
    // Five assets that move as one, but for one pair. Only the lower triangle is read.
    let mut m = [1.0_f32; 25];
    m[22] = 1.5;
    let (mut l, mut s) = ([0.0; 25], [0.0; 25]);
    let model = Model::builtin(&Options {
        n: 5,
        k: 1,
        ..Options::default()
    })?;
    let out = Outputs {
        l: Some(&mut l),
        s: Some(&mut s),
        ..Outputs::default()
    };
    model.decompose(&m, out)?;
    println!("M = {:.2} is L = {:.2} plus S = {:.2}", m[22], l[22], s[22]);
    Ok(())
}
