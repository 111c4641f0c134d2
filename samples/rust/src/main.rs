//! Reads an image of 8x8 pixels, asks the compiled model which digit it shows, and compares the scores with stored ones.
//!
//!     ONNXC=build/onnxc cargo run --release --manifest-path samples/rust/Cargo.toml -- samples/digits/digit.pgm samples/digits/expected.txt
mod onnxc;

use onnxc::{Input, Model, Output, Session};
use std::error::Error;

extern "C" {
    fn digits_model() -> &'static Model;
}

/// A plain PGM of 8x8 pixels as values in [0, 1].
fn read_pgm(path: &str) -> Result<Vec<f32>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let lines: Vec<&str> = text.lines().map(|line| line.split('#').next().unwrap_or("")).collect();
    let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
    if words.len() != 4 + 64 || words[..3] != ["P2", "8", "8"] {
        return Err(format!("{path} is no plain PGM of 8x8 pixels").into());
    }
    let brightest: f32 = words[3].parse()?;
    words[4..].iter().map(|word| Ok(word.parse::<f32>()? / brightest)).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let image = read_pgm(arguments.get(1).ok_or("usage: digits IMAGE.pgm [EXPECTED.txt]")?)?;

    // SAFETY: the unit defines it, and what it points to is constant.
    let mut session = Session::new(unsafe { digits_model() })?;
    let inputs = [Input::new(&image, &[1, 1, 8, 8])];
    let count: i64 = session.output_shape(&inputs, 0)?.iter().product();
    let mut scores = vec![0f32; count as usize];
    session.run(&inputs, &mut [Output::new(&mut scores)])?;

    let answer = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
    println!("the model says: {answer} ({:.6})", scores[answer]);
    if let Some(path) = arguments.get(2) {
        let text = std::fs::read_to_string(path)?;
        let mut words = text.split_whitespace().skip(1);
        let label: usize = words.next().ok_or("no label")?.parse()?;
        let expected = words.map(str::parse).collect::<Result<Vec<f32>, _>>()?;
        let right = expected.len() == scores.len() && scores.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-5);
        if answer != label || !right {
            return Err("WRONG".into());
        }
        println!("expected: {label}: right");
    }

    // What does not fit is an error.
    let small = session.run(&[Input::new(&image[..63], &[1, 1, 8, 8])], &mut [Output::new(&mut scores)]);
    println!("an image of 63 pixels: {}", small.expect_err("it is too small"));
    Ok(())
}
