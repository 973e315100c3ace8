//! The known properties of the machine: its processor, its caches, and its pages.

use std::fs;
use std::path::Path;

use phalanx::Level;
use phalanx_figures::thousands;

/// A cache of data, as the system describes it.
pub(crate) struct Cache {
    pub(crate) level: u32,
    pub(crate) bytes: usize,
}

/// The machine of this run.
pub(crate) struct Machine {
    processor: String,
    /// Data caches of the first processor, the nearest first; empty if the system does not report
    /// them.
    pub(crate) caches: Vec<Cache>,
    huge_pages: String,
}

impl Machine {
    pub(crate) fn of_this_run() -> Self {
        Self { processor: processor(), caches: caches(), huge_pages: huge_pages() }
    }

    /// The size of the farthest cache.
    pub(crate) fn last_cache(&self) -> Option<usize> {
        self.caches.iter().map(|cache| cache.bytes).max()
    }

    /// One line.
    pub(crate) fn describe(&self) -> String {
        let cache = |cache: &Cache| format!("level {}: {}", cache.level, bytes(cache.bytes as f64));
        let caches: Vec<_> = self.caches.iter().map(cache).collect();
        let caches = if caches.is_empty() { "unknown".to_owned() } else { caches.join(", ") };
        format!(
            "{}; caches of data: {caches}; transparent huge pages: {}; kernels: {:?}",
            self.processor,
            self.huge_pages,
            Level::current()
        )
    }
}

/// A size in the unit that makes it short.
pub(crate) fn bytes(bytes: f64) -> String {
    let units = [(1024.0 * 1024.0 * 1024.0, "GiB"), (1024.0 * 1024.0, "MiB"), (1024.0, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{} {name}", (bytes / unit * 10.0).round() / 10.0),
        None => format!("{bytes} B"),
    }
}

/// A number of things.
pub(crate) fn count(number: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts are whole and positive"
    )]
    thousands(number as usize)
}

/// Bytes of this process in huge pages; `None` if the system does not report them.
pub(crate) fn huge_page_bytes() -> Option<usize> {
    let all = fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let line = all.lines().find_map(|line| line.strip_prefix("AnonHugePages:"))?;
    line.trim().strip_suffix(" kB")?.parse::<usize>().ok().map(|kib| kib * 1024)
}

fn processor() -> String {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.to_owned())
}

fn caches() -> Vec<Cache> {
    let folder = Path::new("/sys/devices/system/cpu/cpu0/cache");
    let mut caches: Vec<_> =
        (0..8).filter_map(|i| cache(&folder.join(format!("index{i}")))).collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}

fn cache(folder: &Path) -> Option<Cache> {
    let field =
        |name| fs::read_to_string(folder.join(name)).ok().map(|text| text.trim().to_owned());
    let size = field("size")?;
    let (number, unit) = size.split_at(size.find(|c: char| !c.is_ascii_digit())?);
    let unit = match unit {
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    let bytes = number.parse::<usize>().ok()? * unit;
    (field("type")? != "Instruction")
        .then_some(Cache { level: field("level")?.parse().ok()?, bytes })
}

/// The mode that the system has chosen for huge pages.
fn huge_pages() -> String {
    let modes = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    let chosen = modes.ok().and_then(|modes| {
        let (_, rest) = modes.split_once('[')?;
        rest.split_once(']').map(|(mode, _)| mode.to_owned())
    });
    chosen.unwrap_or_else(|| "unknown".to_owned())
}
