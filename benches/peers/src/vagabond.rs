use crate::{Failure, cli::Vagabond};
pub(crate) fn run(_: &Vagabond) -> Result<(), Failure> {
    Ok(())
}
