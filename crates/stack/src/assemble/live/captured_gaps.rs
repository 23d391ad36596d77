//! Gaps of a captured machine. No bytes are captured, so what lies on a device is known
//! only where it is mounted, swapped to, or was seen by udev.

use std::collections::BTreeSet;

use format::{Problem, ProblemKind};
use units::Known;

use super::Live;
use crate::id::LayerId;
use crate::kernel::NodeId;
use crate::layer::{Bare, Layer, LayerKind};
use crate::rule::is_extended;

/// The most devices that are named.
const NAMES_MAX: usize = 4;

impl Live<'_> {
    /// Notes what the kernel's files do not say of a captured disk, without which nothing on it can
    /// be judged.
    pub(super) fn note_lacking(&mut self, id: NodeId, layer: LayerId) {
        let LayerKind::Drive(drive) = &self.assembler.stack.layer(layer).kind else { return };
        let lacking = [
            ("its number", self.node(id).number.is_none()),
            ("its size", matches!(drive.length_bytes, Known::No(_))),
            ("its logical sector", matches!(drive.logical_bytes, Known::No(_))),
        ];
        let lacking: Vec<&str> =
            lacking.into_iter().filter(|(_, is_lacking)| *is_lacking).map(|(it, _)| it).collect();
        if self.is_captured(layer) && !lacking.is_empty() {
            let detail = format!("the capture lacks {}", lacking.join(" and "));
            self.assembler.stack.layer_mut(layer).bare = Some(Bare::Unknown(detail.clone()));
            self.problem(layer, detail);
        }
    }

    /// Notes on captured disks that their bytes were not read, and what on them nobody saw: of an
    /// array on the first of its disks.
    pub(super) fn note_unseen(&mut self, roots: &[LayerId]) {
        let mut noted = BTreeSet::new();
        for &root in roots {
            if !self.is_captured(root) {
                continue;
            }
            let stack = &self.assembler.stack;
            let over = stack.over(root).into_iter().chain([root]);
            let unseen: Vec<&str> = over
                .filter(|&id| stack.above(id).is_empty() && !self.is_seen(id) && noted.insert(id))
                .map(|id| stack.layer(id).name.as_str())
                .collect();
            let more = if unseen.len() > NAMES_MAX { " and others" } else { "" };
            let names = unseen[..unseen.len().min(NAMES_MAX)].join(", ");
            let detail = match unseen.is_empty() {
                true => {
                    "a capture holds no disk content; only what the kernel shows is known".into()
                }
                false => {
                    format!("a capture holds no disk content; what is on {names}{more} is unknown")
                }
            };
            // What the kernel shows of a disk is judged; of one alone it shows nothing.
            if self.assembler.stack.above(root).is_empty() {
                self.assembler.stack.layer_mut(root).bare = Some(Bare::Unknown(detail.clone()));
            }
            self.problem(root, detail);
        }
    }

    fn is_captured(&self, root: LayerId) -> bool {
        let stack = &self.assembler.stack;
        let layer = stack.layer(root);
        matches!(layer.kind, LayerKind::Drive(_))
            && stack.bytes(root).is_none()
            && layer.problems.is_empty()
    }

    /// Returns whether what is on a layer, on which nothing lies, is known.
    fn is_seen(&self, id: LayerId) -> bool {
        let layer: &Layer = self.assembler.stack.layer(id);
        let is_device = matches!(
            layer.kind,
            LayerKind::Drive(_)
                | LayerKind::KernelPartition
                | LayerKind::MdArray(_)
                | LayerKind::Mapped(_)
        );
        !is_device || is_extended(&self.assembler.stack, id)
    }

    fn problem(&mut self, layer: LayerId, detail: String) {
        let problem = Problem::new(ProblemKind::Uncaptured, 0, detail);
        self.assembler.stack.layer_mut(layer).problems.push(problem);
    }
}
