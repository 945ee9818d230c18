// SPDX-License-Identifier: Apache-2.0
//! Classifies the held-out digits with the model of examples/digits:
//!
//!     cargo run --example digits [FOLDER]     FOLDER holds digits.onnx, images.npy and labels.npy
//!
//! Draws a few images with label and confidence, then prints accuracy, images per second and the model's operators.
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use max::{Buffer, Model, Session};

const SIDE: usize = 8;
const PIXELS: usize = SIDE * SIDE;
const CLASSES: usize = 10;
const DRAWN: usize = 6;
const RUNS: usize = 20;

/// The elements of a .npy file of bytes: what follows its header.
fn read_bytes(path: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let bytes = std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let header = bytes.get(8..10).ok_or("the file is too short")?;
    let start = 10 + usize::from(header[0]) + 256 * usize::from(header[1]);
    Ok(bytes.get(start..).ok_or("the file is too short")?.to_vec())
}

fn best_class(row: &[f32]) -> usize {
    (0..row.len()).fold(0, |best, class| if row[class] > row[best] { class } else { best })
}

fn draw(pixels: &[u8], probabilities: &[f32]) {
    for y in 0..SIDE {
        for image in 0..DRAWN {
            for x in 0..SIDE {
                let shade = [' ', '.', ':', '*', '#'][usize::from(pixels[image * PIXELS + y * SIDE + x] / 4)];
                print!("{shade}{shade}");
            }
            print!("  ");
        }
        println!();
    }
    for row in probabilities.chunks(CLASSES).take(DRAWN) {
        let best = best_class(row);
        print!("a {best}, {:3.0} % sure   ", row[best] * 100.0);
    }
    println!("\n");
}

fn best_run(model: &Model, input: &Buffer) -> max::Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        let start = Instant::now();
        model.execute(&[input])?;
        best = best.min(start.elapsed());
    }
    Ok(best)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or("examples/digits".into()));
    let (pixels, labels) = (read_bytes(&folder.join("images.npy"))?, read_bytes(&folder.join("labels.npy"))?);
    let model = Session::new()?.load(folder.join("digits.onnx"))?;
    let input = Buffer::from_vec(pixels.iter().map(|&it| f32::from(it)).collect(), &[labels.len(), 1, SIDE, SIDE])?;
    let outputs = model.execute(&[&input])?;
    let probabilities = outputs[0].as_slice::<f32>()?;
    let rows = probabilities.chunks(CLASSES);
    let right = rows.zip(&labels).filter(|(row, label)| best_class(row) == usize::from(**label)).count();

    draw(&pixels, &probabilities);
    println!("held-out images    {}", labels.len());
    println!("accuracy           {:.1} %", 100.0 * right as f64 / labels.len() as f64);
    println!("images per second  {:.0}", labels.len() as f64 / best_run(&model, &input)?.as_secs_f64());
    print!("operators         ");
    for (name, nodes) in model.info()?.operators()? {
        print!(" {name} {nodes}");
    }
    println!();
    Ok(())
}
