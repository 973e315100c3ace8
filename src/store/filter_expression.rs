//! An expression of filters: a condition that is true or false for a row, by the components that
//! the row has and by their enable bits.
//!
//! The filters [`Or`](crate::terms::Or) and [`Not`](crate::terms::Not) build it once. A plan tests
//! each archetype with it once, so a pass spends no time on it. Only where enable bits decide, the
//! expression becomes a list of [`EnableRule`]s for the rows of an archetype.

use crate::archetype::Archetype;
use crate::storage::EnableRule;

use super::component_ref::ComponentRef;

/// A condition on a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterExpression {
    /// The row has the component, enabled or not.
    Has(ComponentRef),
    /// The row has the component, and it is enabled; or it is a member of a sparse one.
    Enabled(ComponentRef),
    /// The row has the component, and it is disabled.
    Disabled(ComponentRef),
    /// The row does not meet the condition.
    Not(Box<Self>),
    /// The row meets all conditions.
    All(Vec<Self>),
    /// The row meets at least one condition.
    Any(Vec<Self>),
}

/// The number of rows of an archetype that meet an expression, as far as the components tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RowChoice {
    None,
    /// The enable bits decide.
    Some,
    All,
}

impl RowChoice {
    const fn all_if(met: bool) -> Self {
        if met { Self::All } else { Self::None }
    }

    const fn others(self) -> Self {
        match self {
            Self::None => Self::All,
            Self::Some => Self::Some,
            Self::All => Self::None,
        }
    }
}

/// Conditions that a row must all meet; a condition is met in one of its arrays of bits. An empty
/// list is true, and a condition without arrays is false.
type Clauses = Vec<Vec<(usize, bool)>>;

impl FilterExpression {
    pub(crate) fn not(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// Whether a row of an archetype with these components can meet the condition.
    pub(super) fn admits(&self, has: &dyn Fn(&ComponentRef) -> bool) -> bool {
        self.rows(has) > RowChoice::None
    }

    fn rows(&self, has: &dyn Fn(&ComponentRef) -> bool) -> RowChoice {
        match self {
            Self::Has(one) => RowChoice::all_if(has(one)),
            Self::Enabled(one) | Self::Disabled(one) => match has(one) {
                true => RowChoice::Some,
                false => RowChoice::None,
            },
            Self::Not(one) => one.rows(has).others(),
            Self::All(all) => all.iter().map(|one| one.rows(has)).min().unwrap_or(RowChoice::All),
            Self::Any(any) => any.iter().map(|one| one.rows(has)).max().unwrap_or(RowChoice::None),
        }
    }

    /// The condition that remains if enable bits are ignored: a component counts as present. Bits
    /// of sparse components remain.
    pub(super) fn ignoring_bits(self) -> Self {
        let each = |all: Vec<Self>| all.into_iter().map(Self::ignoring_bits).collect();
        match self {
            Self::Enabled(one) if one.is_sparse => Self::Enabled(one),
            Self::Has(one) | Self::Enabled(one) | Self::Disabled(one) => Self::Has(one),
            Self::Not(one) => one.ignoring_bits().not(),
            Self::All(all) => Self::All(each(all)),
            Self::Any(any) => Self::Any(each(any)),
        }
    }

    /// The components of alternatives that are met by having one of them, each with whether a bit
    /// decides. `None` if an alternative is of another form.
    pub(super) fn components_of_any(any: &[Self]) -> Option<Vec<(ComponentRef, bool)>> {
        let component = |one: &Self| match one {
            Self::Has(one) => Some((*one, false)),
            Self::Enabled(one) => Some((*one, true)),
            _ => None,
        };
        any.iter().map(component).collect()
    }

    /// Whether it names a sparse component. One is named only by its bits.
    pub(super) fn names_sparse(&self) -> bool {
        let mut components = Vec::new();
        self.add_bits_to(&mut components);
        components.iter().any(|one| one.is_sparse)
    }

    /// Adds the components with bits that decide.
    pub(super) fn add_bits_to(&self, components: &mut Vec<ComponentRef>) {
        match self {
            Self::Has(_) => {}
            Self::Enabled(one) | Self::Disabled(one) => components.push(*one),
            Self::Not(one) => one.add_bits_to(components),
            Self::All(some) | Self::Any(some) => {
                some.iter().for_each(|one| one.add_bits_to(components));
            }
        }
    }

    /// The text: `A`, `no A`, `disabled A`, `(A and B)`, `(A or B)`, with each component as `name`
    /// writes it.
    pub(crate) fn text(&self, name: fn(&'static str) -> &'static str) -> String {
        let list = |some: &[Self], word| {
            let texts: Vec<_> = some.iter().map(|one| one.text(name)).collect();
            format!("({})", texts.join(word))
        };
        match self {
            Self::Has(one) | Self::Enabled(one) => name(one.name).to_owned(),
            Self::Disabled(one) => format!("disabled {}", name(one.name)),
            Self::Not(one) => format!("no {}", one.text(name)),
            Self::All(all) => list(all, " and "),
            Self::Any(any) => list(any, " or "),
        }
    }

    /// The rules for the rows of an archetype: none if all of them comply.
    pub(super) fn resolve(&self, archetype: &Archetype) -> impl Iterator<Item = EnableRule> {
        self.clauses(archetype, true).into_iter().map(EnableRule::any_of)
    }

    /// The rows that meet the condition, or for `false` the others.
    fn clauses(&self, archetype: &Archetype, is_met: bool) -> Clauses {
        let array = |one: &ComponentRef| {
            let attachments = archetype.attachments()?;
            if one.is_sparse {
                return attachments.members_number(one.member()?);
            }
            attachments.bits_number(archetype.column(one.id)?)
        };
        // A set bit is of a disabled component, and of a member of a sparse one.
        let in_bits = |one: &ComponentRef, enabled: bool| match one.is_had_by(archetype) {
            false => constant(!is_met),
            true => {
                let array = array(one).expect("a component has no bits");
                vec![vec![(array, (enabled == is_met) != one.is_sparse)]]
            }
        };
        match (self, is_met) {
            (Self::Has(one), _) => constant(archetype.column(one.id).is_some() == is_met),
            (Self::Enabled(one), _) => in_bits(one, true),
            (Self::Disabled(one), _) => in_bits(one, false),
            (Self::Not(one), _) => one.clauses(archetype, !is_met),
            (Self::All(some), true) | (Self::Any(some), false) => {
                let all: Clauses =
                    some.iter().flat_map(|one| one.clauses(archetype, is_met)).collect();
                let is_never = all.iter().any(Vec::is_empty);
                if is_never { constant(false) } else { all }
            }
            (Self::All(some), false) | (Self::Any(some), true) => {
                let one_of =
                    |found: Clauses, one: &Self| either(&found, &one.clauses(archetype, is_met));
                some.iter().fold(constant(false), one_of)
            }
        }
    }
}

/// The clauses that every row meets, or none.
fn constant(is_met: bool) -> Clauses {
    if is_met { Vec::new() } else { vec![Vec::new()] }
}

/// The clauses of rows that meet one list or the other.
fn either(one: &Clauses, other: &Clauses) -> Clauses {
    let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (a, b)));
    pairs.map(|(a, b)| a.iter().chain(b).copied().collect()).collect()
}
