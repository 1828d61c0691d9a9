//! The README's Rust example.

use denise::{Error, Model, Options, Outputs};

fn main() -> Result<(), Error> {
    let mut m = [1.0_f32; 25]; // five assets that move as one, but for one pair;
    m[22] = 1.5; // only the lower triangle is read
    let (mut l, mut s) = ([0.0; 25], [0.0; 25]);
    let model = Model::builtin(&Options::size(5, 1))?; // 5×5 matrices, L of rank 1
    model.decompose(&m, Outputs::parts(&mut l, &mut s))?;
    let (m, l, s) = (m[22], l[22], s[22]);
    println!("ok: M = {m:.2} is L = {l:.2} plus S = {s:.2}");
    Ok(())
}
