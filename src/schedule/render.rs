//! A schedule as text, and as a graph for Graphviz.

use core::fmt;
use core::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::dependency_graph::{DependencyGraph, Stage};
use super::edges::Edges;
use super::order::{OrderEdge, OrderNode, OrderRequest, Reason, labels};
use super::param_access::{ParamAccess, clash};
use super::requests::requested_edges;
use super::schedule::Schedule;
use super::schedule_error::ScheduleError;
use super::system_state::SystemAccess;

/// The systems of each stage with their access, the systems that each waits for with the reason,
/// and the sync points with their cause.
///
/// Edges that others imply are left out. Conflicts are the conflicts of any world: in a given
/// world, systems with disjoint archetypes still run in parallel.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stages = match self.stages() {
            Ok(stages) => stages,
            Err(error) => return write!(f, "{error}"),
        };
        let (access, labels) = (self.access(), labels(&self.nodes));
        let reasons = Reasons::new(self, &stages);
        for (number, stage) in stages.iter().enumerate() {
            writeln!(f, "stage {number}")?;
            let mut edges = vec![Vec::new(); stage.systems.len()];
            for (from, to) in shown_edges(stage) {
                edges[to].push(reasons.edge(stage.systems[from], stage.systems[to]));
            }
            for (&system, edges) in stage.systems.iter().zip(&edges) {
                write!(f, "  {}", labels[system])?;
                if !self.nodes[system].sets.is_empty() {
                    write!(f, " (in {})", self.nodes[system].sets.join(", "))?;
                }
                writeln!(f)?;
                access[system].lines().try_for_each(|line| writeln!(f, "    {line}"))?;
                for edge in edges {
                    writeln!(f, "    waits for {}: {}", labels[edge.from], edge.reason)?;
                }
            }
            if stage.ends_in_sync(&self.nodes) {
                write_sync(f, &reasons, &labels, stage)?;
                for edge in reasons.crossing(&self.nodes, number) {
                    let [from, to] = [edge.from, edge.to].map(|system| &labels[system]);
                    let what = match reasons.late_effects(edge.from) {
                        [true, true] => "commands and the sparse components",
                        [false, true] => "sparse components",
                        [_, false] => "commands",
                    };
                    writeln!(f, "    {to} sees the {what} of {from}: {}", edge.reason)?;
                }
            }
        }
        Ok(())
    }
}

fn write_sync(
    f: &mut fmt::Formatter<'_>,
    reasons: &Reasons,
    labels: &[String],
    stage: &Stage,
) -> fmt::Result {
    f.write_str("sync point")?;
    if !stage.explicit_syncs.is_empty() {
        f.write_str(", placed by hand")?;
    }
    let mut separator = ": ";
    let effects = ["applies the commands of", "queries see the sparse components of"];
    for (effect, says) in effects.into_iter().enumerate() {
        let systems = stage.systems.iter().filter(|&&system| reasons.late_effects(system)[effect]);
        let systems: Vec<&str> = systems.map(|&system| &*labels[system]).collect();
        if !systems.is_empty() {
            write!(f, "{separator}{says} {}", systems.join(", "))?;
            separator = "; ";
        }
    }
    writeln!(f)
}

/// The edges of a stage that others do not imply, between systems by their index in the stage.
fn shown_edges(stage: &Stage) -> Vec<(usize, usize)> {
    let pairs = stage.requested.all_pairs().chain(stage.conflicts.all_pairs());
    let all = Edges { pairs: pairs.collect(), ..Edges::default() };
    let graph = DependencyGraph::new(stage.systems.len(), [&all]);
    let successors = graph.successors.iter().enumerate();
    successors.flat_map(|(at, next)| next.iter().map(move |&next| (at, next))).collect()
}

/// The reasons why systems wait for each other.
struct Reasons {
    /// All requested edges, in the order of the requests.
    requested: Vec<OrderEdge>,
    /// The first request between two systems.
    first: FxHashMap<(usize, usize), usize>,
    access: Vec<Vec<ParamAccess>>,
    stage_of: Vec<usize>,
}

impl Reasons {
    /// The reasons in a schedule of these stages.
    fn new(schedule: &Schedule, stages: &[Stage]) -> Self {
        let requested = requested_edges(&schedule.nodes, &schedule.sets);
        let requested = requested.expect("a schedule that has stages names something unknown");
        let mut first = FxHashMap::default();
        for (at, edge) in requested.iter().enumerate() {
            first.entry((edge.from, edge.to)).or_insert(at);
        }
        let access = schedule.access().into_iter().map(SystemAccess::into_all).collect();
        let mut stage_of = vec![0; schedule.nodes.len()];
        for (number, stage) in stages.iter().enumerate() {
            stage.systems.iter().for_each(|&system| stage_of[system] = number);
        }
        Self { requested, first, access, stage_of }
    }

    /// The edge between two systems; the later one waits for the other. A request takes precedence
    /// over a conflict.
    fn edge(&self, from: usize, to: usize) -> OrderEdge {
        match self.first.get(&(from, to)) {
            Some(&at) => self.requested[at].clone(),
            None => {
                let what = clash(&self.access[from], &self.access[to]);
                let what = what.expect("two systems wait for each other without a reason");
                OrderEdge { from, to, reason: Reason::Conflict(what) }
            }
        }
    }

    /// Whether other systems see commands of a system after the next sync point, and whether they
    /// see sparse components that it inserts.
    fn late_effects(&self, system: usize) -> [bool; 2] {
        let access = &self.access[system];
        let commands = access.iter().any(ParamAccess::records_commands);
        [commands, access.iter().any(ParamAccess::inserts_sparse)]
    }

    /// The edges over the sync point at the end of a stage: `to` sees the commands of `from`, or
    /// its sparse components.
    fn crossing<'r>(
        &'r self,
        nodes: &'r [OrderNode],
        stage: usize,
    ) -> impl Iterator<Item = &'r OrderEdge> {
        let records =
            move |edge: &&OrderEdge| nodes[edge.from].commands && edge.reason != Reason::Sync;
        let crosses = move |edge: &&OrderEdge| {
            self.stage_of[edge.from] == stage && self.stage_of[edge.to] != stage
        };
        self.requested.iter().filter(records).filter(crosses)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Before(request) => write_request(f, request, "before"),
            Self::After(request) => write_request(f, request, "after"),
            Self::Sync => f.write_str("sync point"),
            Self::Conflict(what) => fmt::Display::fmt(what, f),
        }
    }
}

fn write_request(f: &mut fmt::Formatter<'_>, request: &OrderRequest, side: &str) -> fmt::Result {
    if let Some(set) = &request.set {
        write!(f, "`{set}` ")?;
    }
    write!(f, "{side} `{}`", request.target)
}

impl Schedule {
    /// The schedule as a graph in the language of Graphviz; `dot -Tsvg` draws it.
    ///
    /// Solid arrows are requested, dashed ones are conflicts; each is labelled with its reason.
    /// Stages are boxes. Names may contain any characters: quotes, backslashes, line ends and the
    /// like are escaped.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::Cycle`], [`ScheduleError::UnknownName`] or [`ScheduleError::NotAdded`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut schedule = Schedule::new();
    /// schedule.add(|| ()).named("first");
    /// schedule.add(|| ()).named("second").after("first");
    /// let dot = schedule.to_graphviz()?;
    /// assert!(dot.contains(r#"s0 -> s1 [label="after `first`"];"#));
    /// # Ok::<(), phalanx::schedule::ScheduleError>(())
    /// ```
    pub fn to_graphviz(&self) -> Result<String, ScheduleError> {
        let stages = self.stages()?;
        let mut dot = String::from("digraph schedule {\n  rankdir=LR;\n  node [shape=box];\n");
        self.write_stages(&mut dot, &stages).expect("writing to a `String` failed");
        dot.push_str("}\n");
        Ok(dot)
    }

    fn write_stages(&self, dot: &mut String, stages: &[Stage]) -> fmt::Result {
        let (labels, access) = (labels(&self.nodes), self.access());
        let reasons = Reasons::new(self, stages);
        for (number, stage) in stages.iter().enumerate() {
            writeln!(dot, "  subgraph cluster_{number} {{\n    label=\"stage {number}\";")?;
            for &system in &stage.systems {
                write!(dot, "    s{system} [label=\"{}", Escaped(&labels[system]))?;
                access[system].lines().try_for_each(|line| write!(dot, "\\n{}", Escaped(&line)))?;
                writeln!(dot, "\"];")?;
            }
            writeln!(dot, "  }}")?;
            for (from, to) in shown_edges(stage) {
                write_edge(dot, &reasons.edge(stage.systems[from], stage.systems[to]), "")?;
            }
            for edge in reasons.crossing(&self.nodes, number) {
                write_edge(dot, edge, ", sync point")?;
            }
        }
        Ok(())
    }
}

fn write_edge(dot: &mut String, edge: &OrderEdge, suffix: &str) -> fmt::Result {
    let style = if matches!(edge.reason, Reason::Conflict(_)) { ", style=dashed" } else { "" };
    let (from, to, reason) = (edge.from, edge.to, edge.reason.to_string());
    writeln!(dot, "  s{from} -> s{to} [label=\"{}{suffix}\"{style}];", Escaped(&reason))
}

/// A text, escaped for the quotation marks of a label.
///
/// Graphviz decodes a label three times: as a quoted string, for its escapes (`\n`, and `\N` for
/// the node), and for HTML entities. Characters that neither a label nor SVG can hold are shown
/// with Rust's escapes.
struct Escaped<'t>(&'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '"' => f.write_str("\\\""),
            '\\' => f.write_str("\\\\"),
            '&' => f.write_str("&amp;"),
            '\n' => f.write_str("\\n"),
            c if c.is_control() => write!(f, "\\{}", c.escape_default()),
            c => f.write_char(c),
        })
    }
}
