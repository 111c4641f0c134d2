//! Compiles the model into a static library that Cargo links: by the `onnxc` in $ONNXC, else in PATH, and the C++ compiler in $CXX, else `c++`.
use std::{env, path::PathBuf, process::Command};

fn run(program: &str, arguments: &[&str]) {
    match Command::new(program).args(arguments).status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{program} {arguments:?}: {status}"),
        Err(error) => panic!("{program}: {error}"),
    }
}

fn main() {
    let model = "../digits/digits.onnx";
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let at = |name: &str| out.join(name).to_str().expect("OUT_DIR is UTF-8").to_string();
    let onnxc = env::var("ONNXC").unwrap_or_else(|_| "onnxc".into());
    let cxx = env::var("CXX").unwrap_or_else(|_| "c++".into());
    // --standalone: the unit needs no headers of onnxc. Without --target it is for this machine.
    run(&onnxc, &[model, "--standalone", "--namespace=digits", "-o", &at("digits.cpp")]);
    run(&cxx, &["-std=c++20", "-O3", "-march=native", "-fPIC", "-c", &at("digits.cpp"), "-o", &at("digits.o")]);
    let _ = std::fs::remove_file(at("libdigits.a"));
    run("ar", &["rcs", &at("libdigits.a"), &at("digits.o")]);
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=digits");
    println!("cargo:rerun-if-changed={model}");
    println!("cargo:rerun-if-env-changed=ONNXC");
    println!("cargo:rerun-if-env-changed=CXX");
}
