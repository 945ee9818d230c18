// SPDX-License-Identifier: Apache-2.0
//! Finds or builds libmax; see src/lib.rs. Nothing is downloaded.
use std::env;
use std::path::{Path, PathBuf};
use std::process::exit;

fn main() {
    for name in ["MAX_DIR", "MAX_STATIC", "MAX_SOURCE_DIR"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    // Documentation needs no library.
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    let wants_archive =
        env::var_os("CARGO_FEATURE_STATIC").is_some() || env::var("MAX_STATIC").is_ok_and(|it| it == "1");
    match find(wants_archive) {
        Ok(folder) => link(&folder, wants_archive),
        Err(message) => {
            eprintln!("error: {message}");
            exit(1);
        }
    }
}

/// The folder with libmax.so or libmax.a.
fn find(wants_archive: bool) -> Result<PathBuf, String> {
    if env::var_os("CARGO_FEATURE_BUNDLED").is_some() {
        return build(wants_archive);
    }
    let file = file_name(wants_archive);
    let mut tried = Vec::new();
    if let Some(prefix) = env::var_os("MAX_DIR").map(PathBuf::from) {
        for folder in folders_of(&prefix) {
            if folder.join(file).exists() {
                return Ok(folder);
            }
            tried.push(folder.join(file).display().to_string());
        }
        return Err(format!("MAX_DIR is set, and there is none of {}", tried.join(", ")));
    }
    match pkg_config::Config::new().cargo_metadata(false).probe("max") {
        Ok(found) => found.link_paths.iter().find(|it| it.join(file).exists()).cloned().ok_or_else(|| {
            format!("pkg-config says that libmax is in {:?}, but {file} is not there", found.link_paths)
        }),
        Err(failure) => Err(format!(
            "no libmax was found: MAX_DIR is not set, the feature \"bundled\" is off, and pkg-config says: {failure}"
        )),
    }
}

fn file_name(wants_archive: bool) -> &'static str {
    if wants_archive { "libmax.a" } else { "libmax.so" }
}

/// Where an installed copy or a build folder has its libraries.
fn folders_of(prefix: &Path) -> Vec<PathBuf> {
    let mut folders = vec![prefix.join("lib"), prefix.join("lib64")];
    if let Some(triple) = env::var("TARGET").ok().as_deref().and_then(|it| it.split_once('-')) {
        folders.push(prefix.join(format!("lib/{}-linux-gnu", triple.0)));
    }
    folders.push(prefix.to_path_buf());
    folders
}

#[cfg(feature = "bundled")]
fn build(wants_archive: bool) -> Result<PathBuf, String> {
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("Cargo sets it")).join("../../..");
    let source = env::var_os("MAX_SOURCE_DIR").map_or(own, PathBuf::from);
    if !source.join("src/capi/CMakeLists.txt").exists() {
        return Err(format!("{} holds no sources of MAX; MAX_SOURCE_DIR says where they are", source.display()));
    }
    for folder in ["CMakeLists.txt", "cmake", "include", "src"] {
        println!("cargo:rerun-if-changed={}", source.join(folder).display());
    }
    let target = if wants_archive { "max_static" } else { "max" };
    let options = ["MAX_BUILD_TESTS", "MAX_BUILD_CLI", "MAX_WARNINGS_AS_ERRORS"];
    let mut config = cmake::Config::new(&source);
    options.iter().for_each(|option| _ = config.define(option, "OFF"));
    // The library's own flags and those of the environment, whatever the profile of the program is.
    for (option, variable) in [("CMAKE_C_FLAGS", "CFLAGS"), ("CMAKE_CXX_FLAGS", "CXXFLAGS")] {
        config.define(option, env::var(variable).unwrap_or_default());
    }
    config.define("MAX_PRECOMPILED_HEADERS", "ON").profile("Release").no_default_flags(true).build_target(target);
    Ok(config.build().join("build/lib"))
}

#[cfg(not(feature = "bundled"))]
fn build(_wants_archive: bool) -> Result<PathBuf, String> {
    unreachable!("the feature is off")
}

fn link(folder: &Path, wants_archive: bool) {
    println!("cargo:rerun-if-changed={}", folder.join(file_name(wants_archive)).display());
    println!("cargo:lib={}", folder.display());
    if wants_archive {
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:rustc-link-lib=static=max");
        for library in ["stdc++", "pthread", "dl", "m"] {
            println!("cargo:rustc-link-lib=dylib={library}");
        }
        return;
    }
    // `cargo run` and `cargo test` look for libraries in the build's own folders only.
    let here = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets it")).join("lib");
    std::fs::create_dir_all(&here).expect("the folder of a build can be written");
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    for name in ["libmax.so", "libmax.so.0"] {
        let path = here.join(name);
        _ = std::fs::remove_file(&path);
        std::os::unix::fs::symlink(folder.join(name), path).expect("the folder of a build can be written");
    }
    println!("cargo:rustc-link-search=native={}", here.display());
    println!("cargo:rustc-link-lib=dylib=max");
}
