//! The world that another process follows: it agrees for any losses and delays.

use crate::example::{Example, example};
use phalanx::Level;
use std::collections::BTreeSet;
use std::io::Read;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Output};
use std::thread;
use std::time::Duration;

static REPLICATE: Example = example!("replicate");

/// Enough frames that sparks go out.
const SMALL: [&str; 4] = ["--entities", "400", "--frames", "40"];

fn printed(arguments: &[&str], level: Option<Level>) -> String {
    REPLICATE.printed(&[&SMALL[..], arguments].concat(), level)
}

/// The frames that were acknowledged.
fn acknowledged(text: &str) -> u32 {
    let last = text.lines().last().expect("a line");
    let end = last.strip_prefix("40 frames: the mirror agreed at every one of ");
    let number = end.and_then(|end| end.strip_suffix(" acknowledged"));
    number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

/// Bytes of a frame in some form.
fn bytes(text: &str, form: &str) -> u64 {
    let row = text.lines().find_map(|line| line.strip_prefix(&format!("{form} ")));
    let number = row.and_then(|row| row.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{form}: {text}"))
}

fn failed(arguments: &[&str]) -> String {
    let output = REPLICATE.command().args(arguments).output().expect("it starts");
    let Output { status, stdout, stderr } = &output;
    assert!(status.code() == Some(2) && stdout.is_empty(), "{output:?}");
    let line = String::from_utf8(stderr.clone()).expect("text");
    assert_eq!(line.lines().count(), 1, "{line}");
    line
}

/// Waits until the child has connected, but only while it runs.
fn accept(listener: &TcpListener, child: &mut Child) -> TcpStream {
    listener.set_nonblocking(true).expect("a socket");
    loop {
        if let Ok((stream, _)) = listener.accept() {
            stream.set_nonblocking(false).expect("a socket");
            stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket");
            return stream;
        }
        let ended = child.try_wait().expect("it has started");
        assert!(ended.is_none(), "it has not connected: {ended:?}");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn all_frames_are_acknowledged_if_nothing_is_lost_or_late() {
    let text = printed(&["--loss", "0", "--reorder", "0"], None);
    assert_eq!(acknowledged(&text), 40);
    assert!(text.contains("of 40 frames 0 lost, 0 late, 0 overtaken"), "{text}");
}

#[test]
fn the_mirror_agrees_whatever_is_lost_or_late() {
    for conditions in [["10", "10", "2"], ["40", "50", "0"], ["60", "30", "6"]] {
        let [loss, reorder, latency] = conditions;
        let link = ["--loss", loss, "--reorder", reorder, "--latency", latency];
        let mut answers = BTreeSet::new();
        for form in ["dump", "delta", "xor"] {
            let text = printed(&[&link[..], &["--form", form]].concat(), None);
            assert!(!text.contains("frames 0 lost"), "{text}");
            answers.insert(acknowledged(&text));
        }
        assert_eq!(answers.len(), 1, "what is sent does not decide what arrives: {answers:?}");
        assert!(answers.first().is_some_and(|&frames| frames > 0), "{conditions:?}");
    }
    assert!(acknowledged(&printed(&["--apart"], None)) > 0, "what walks has chunks of its own");
    let text = printed(&["--loss", "100"], None);
    assert_eq!(acknowledged(&text), 0);
}

#[test]
fn a_difference_is_smaller_than_the_state() {
    let mut all = BTreeSet::new();
    for level in Level::available() {
        let text = printed(&[], Some(level));
        let forms = ["dump", "delta", "xor, packed"].map(|form| bytes(&text, form));
        let [dump, delta, xor] = forms;
        assert!(dump > 2 * delta && delta > 2 * xor, "{text}");
        all.insert((forms, acknowledged(&text)));
    }
    assert_eq!(all.len(), 1, "sizes are those of every level: {all:?}");
}

#[test]
fn a_mirror_that_differs_is_found() {
    let link = ["--loss", "0", "--reorder", "0", "--spoil", "20"];
    for form in ["dump", "delta", "xor"] {
        let line = failed(&[&SMALL[..], &link, &["--form", form]].concat());
        assert!(line.starts_with("replicate: frame 20: the mirror has "), "{line}");
    }
}

#[test]
fn the_mirror_may_be_another_program() {
    let command = REPLICATE.command();
    let program = command.get_program().to_str().expect("text");
    assert!(acknowledged(&printed(&["--program", program], None)) > 0);
    let nowhere = std::env::temp_dir().join("phalanx-replicate-nowhere").join("program");
    let line = failed(&["--program", nowhere.to_str().expect("text")]);
    assert!(line.starts_with("replicate: cannot start "), "{line}");
}

/// A mirror that starts when the test says so: until then, other programs connect to its port.
#[cfg(unix)]
#[test]
fn other_programs_that_connect_first_change_nothing() {
    use std::fs::{self, Permissions};
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("replicate-strangers");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the files of a test");
    let [script, said, port, begin] = ["mirror", "said", "port", "begin"].map(|f| folder.join(f));
    let program = REPLICATE.command().get_program().to_owned();
    let lines = [
        "#!/bin/sh".to_owned(),
        format!("echo $2 > '{}' && mv '{0}' '{}'", said.display(), port.display()),
        format!("while [ ! -e '{}' ]; do sleep 0.01; done", begin.display()),
        format!("exec '{}' \"$@\"", program.display()),
    ];
    fs::write(&script, lines.join("\n")).expect("a script");
    fs::set_permissions(&script, Permissions::from_mode(0o700)).expect("its own file");
    let strangers = thread::spawn(move || {
        let port = loop {
            match fs::read_to_string(&port) {
                Ok(port) => break port.trim().parse::<u16>().expect("a port"),
                Err(_) => thread::sleep(Duration::from_millis(1)),
            }
        };
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens");
        let silent = connect();
        drop(connect());
        let mut others = [&b"GET / HTTP/1.1"[..], &[0; 4], &[1; 2]].map(|said| (connect(), said));
        for (stream, said) in &mut others {
            stream.write_all(said).expect("it listens");
        }
        fs::write(begin, "").expect("a file");
        (silent, others)
    });
    let script = script.to_str().expect("text");
    assert!(acknowledged(&printed(&["--program", script], None)) > 0);
    drop(strangers.join().expect("all could connect"));
}

#[test]
fn a_mirror_without_a_sender_ends() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("it is bound").port().to_string();
    let mut mirror = REPLICATE.command().args(["--mirror", &port]).spawn().expect("it starts");
    let mut stream = accept(&listener, &mut mirror);
    let mut id = [0; 4];
    stream.read_exact(&mut id).expect("its id");
    assert_eq!(u32::from_le_bytes(id), mirror.id());
    drop(stream);
    assert!(mirror.wait().expect("it ends").success(), "there was nothing to mirror");
    drop(listener);
    failed(&["--mirror", &port]);
}
