//! A schedule as text, and as a graph for Graphviz.

use core::fmt;
use core::fmt::Write as _;

use crate::component::Registry;

use super::error::ScheduleError;
use super::graph::{DependencyGraph, Graph, Stage};
use super::order::{Edge, Node, OrderRequest, Reason, labels};
use super::schedule::Schedule;
use super::stage::lock;
use super::system_state::SystemAccess;

/// Everything a reader wants to know: stage by stage the systems with what they ask for, whom each
/// waits for and why, and the sync points with their cause.
///
/// Edges that follow from others are left out. Conflicts are those of any world: in a given one,
/// systems whose archetypes are disjoint run side by side all the same.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let graph = match self.graph() {
            Ok(graph) => graph,
            Err(error) => return write!(f, "{error}"),
        };
        let (asks, labels) = (self.asks(), labels(&self.nodes));
        for (number, stage) in graph.stages.iter().enumerate() {
            writeln!(f, "stage {number}")?;
            let edges = telling(stage);
            for &system in &stage.systems {
                write!(f, "  {}", labels[system])?;
                if !self.nodes[system].sets.is_empty() {
                    write!(f, " (in {})", self.nodes[system].sets.join(", "))?;
                }
                writeln!(f)?;
                asks[system].lines().try_for_each(|line| writeln!(f, "    {line}"))?;
                for edge in edges.iter().filter(|edge| edge.to == system) {
                    writeln!(f, "    waits for {}: {}", labels[edge.from], edge.reason)?;
                }
            }
            if stage.ends_in_sync(&self.nodes) {
                write_sync(f, &self.nodes, &labels, stage)?;
            }
        }
        Ok(())
    }
}

fn write_sync(
    f: &mut fmt::Formatter<'_>,
    nodes: &[Node],
    labels: &[String],
    stage: &Stage,
) -> fmt::Result {
    let recorders = stage.systems.iter().filter(|&&system| nodes[system].commands);
    let recorders: Vec<&str> = recorders.map(|&system| &*labels[system]).collect();
    f.write_str("sync point")?;
    if !stage.by_hand.is_empty() {
        f.write_str(", placed by hand")?;
    }
    if !recorders.is_empty() {
        write!(f, ": applies the commands of {}", recorders.join(", "))?;
    }
    writeln!(f)?;
    for edge in &stage.seen {
        let [from, to] = [edge.from, edge.to].map(|system| &labels[system]);
        writeln!(f, "    {to} sees what {from} did: {}", edge.reason)?;
    }
    Ok(())
}

/// The edges of a stage that do not follow from others. One that was asked for tells more than a
/// conflict between the same two.
fn telling(stage: &Stage) -> Vec<&Edge> {
    let wiring = DependencyGraph::new(stage, |_| true);
    let mut edges: Vec<&Edge> = Vec::new();
    for (at, successors) in wiring.successors.iter().enumerate() {
        for &next in successors {
            let (from, to) = (stage.systems[at], stage.systems[next]);
            edges.extend(stage.edges.iter().find(|edge| edge.from == from && edge.to == to));
        }
    }
    edges
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Before(wish) => write_wish(f, wish, "before"),
            Self::After(wish) => write_wish(f, wish, "after"),
            Self::Sync => f.write_str("sync point"),
            Self::Conflict(what) => fmt::Display::fmt(what, f),
        }
    }
}

fn write_wish(f: &mut fmt::Formatter<'_>, wish: &OrderRequest, side: &str) -> fmt::Result {
    if let Some(set) = &wish.set {
        write!(f, "`{set}` ")?;
    }
    write!(f, "{side} `{}`", wish.name)
}

impl Schedule {
    /// The schedule as a graph in the language of Graphviz: `dot -Tsvg` draws it.
    ///
    /// Solid arrows were asked for, dashed ones are conflicts; each says why. Stages are boxes.
    /// Names may hold any characters: quotes, backslashes, line ends and the like are escaped.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::Cycle`] or [`ScheduleError::UnknownName`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut schedule = Schedule::new();
    /// schedule.add(|| ()).named("first");
    /// schedule.add(|| ()).named("second").after("first");
    /// let dot = schedule.to_graphviz()?;
    /// assert!(dot.contains(r#"s0 -> s1 [label="after `first`"];"#));
    /// # Ok::<(), phalanx::ScheduleError>(())
    /// ```
    pub fn to_graphviz(&self) -> Result<String, ScheduleError> {
        let graph = self.graph()?;
        let mut dot = String::from("digraph schedule {\n  rankdir=LR;\n  node [shape=box];\n");
        write_graph(&mut dot, &labels(&self.nodes), &graph, &self.asks())
            .expect("a string takes any text");
        dot.push_str("}\n");
        Ok(dot)
    }

    /// What each node asks for, told apart from what its conditions do.
    fn asks(&self) -> Vec<SystemAccess> {
        let mut registry = Registry::default();
        self.slots.iter().map(|slot| lock(slot).asks(&mut registry)).collect()
    }
}

fn write_graph(
    dot: &mut String,
    labels: &[String],
    graph: &Graph,
    asks: &[SystemAccess],
) -> fmt::Result {
    for (number, stage) in graph.stages.iter().enumerate() {
        writeln!(dot, "  subgraph cluster_{number} {{\n    label=\"stage {number}\";")?;
        for &system in &stage.systems {
            write!(dot, "    s{system} [label=\"{}", Escaped(&labels[system]))?;
            asks[system].lines().try_for_each(|line| write!(dot, "\\n{}", Escaped(&line)))?;
            writeln!(dot, "\"];")?;
        }
        writeln!(dot, "  }}")?;
        for edge in telling(stage) {
            write_edge(dot, edge, "")?;
        }
        for edge in &stage.seen {
            write_edge(dot, edge, ", sync point")?;
        }
    }
    Ok(())
}

fn write_edge(dot: &mut String, edge: &Edge, suffix: &str) -> fmt::Result {
    let style = if matches!(edge.reason, Reason::Conflict(_)) { ", style=dashed" } else { "" };
    let (from, to, reason) = (edge.from, edge.to, edge.reason.to_string());
    writeln!(dot, "  s{from} -> s{to} [label=\"{}{suffix}\"{style}];", Escaped(&reason))
}

/// A text as it is written between the quotation marks of a label.
///
/// Graphviz reads a label three times: as a quoted string, for its escapes (`\n`, and `\N` for the
/// node), and for the entities of HTML. Characters that neither a label nor SVG can hold are shown
/// as Rust escapes them.
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
