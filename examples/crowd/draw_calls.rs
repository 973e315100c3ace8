//! The draw calls for the graphics card: for each mesh, the agents that are drawn with it.

use crate::model::{COARSE, Camera, Gait, MESHES, Mesh, Position};

/// The place of an agent, and its progress in a step.
pub(crate) type Instance = (Position, Gait);

/// A draw call for each visible mesh.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct DrawCalls(Vec<(Mesh, Vec<Instance>)>);

impl DrawCalls {
    /// Begins a frame. Keeps the memory of the last one.
    pub(crate) fn clear(&mut self) {
        self.0.iter_mut().for_each(|(_, instances)| instances.clear());
    }

    /// The instances of a mesh.
    pub(crate) fn of(&mut self, mesh: &Mesh) -> &mut Vec<Instance> {
        let at = self.0.iter().position(|(known, _)| known == mesh);
        let at = at.unwrap_or_else(|| {
            self.0.push((mesh.clone(), Vec::new()));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }

    /// The instances of each mesh, including meshes that are not visible.
    pub(crate) fn all(&self) -> [&[Instance]; 4] {
        let of = |mesh: &Mesh| self.0.iter().find(|(known, _)| known == mesh);
        MESHES.each_ref().map(|mesh| of(mesh).map_or(&[][..], |(_, instances)| instances))
    }

    /// Names the visible meshes, with their instances and triangles.
    pub(crate) fn summary(&self) -> String {
        let seen = MESHES.iter().zip(self.all()).filter(|(_, instances)| !instances.is_empty());
        let calls: Vec<_> = seen
            .map(|(mesh, all)| {
                let triangles = all.len() * mesh.triangles as usize;
                format!("{} {} ({triangles} triangles)", all.len(), mesh.name)
            })
            .collect();
        if calls.is_empty() { "none".to_owned() } else { calls.join(", ") }
    }
}

/// Whether the camera sees an agent well enough to draw it.
pub(crate) fn is_seen(at: Position, camera: Camera) -> bool {
    let (x, y) = (at.x - camera.x, at.y - camera.y);
    x * x + y * y < COARSE * COARSE
}
