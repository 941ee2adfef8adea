//! A method as JSON: what `keepnet methods --json` and the Python package show.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{MethodInfo, Promises, Relation};

impl Serialize for MethodInfo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", self.name)?;
        map.serialize_entry("stream", self.stream.name())?;
        map.serialize_entry("summary", self.summary)?;
        map.serialize_entry("tasks", self.tasks)?;
        map.serialize_entry("cost", self.cost)?;
        map.serialize_entry("memory", self.memory)?;
        map.serialize_entry("paper", self.paper)?;
        map.serialize_entry("scans", &self.scans)?;
        map.serialize_entry("needs_k", &self.needs_k)?;
        map.serialize_entry("has_loss", &self.has_loss)?;
        map.serialize_entry("settings", self.settings)?;
        map.serialize_entry("promises", &self.promises)?;
        map.end()
    }
}

impl Promises {
    /// The names of the relations that are promised.
    #[must_use]
    pub fn kept(&self) -> Vec<&'static str> {
        let kept = Relation::ALL.iter().filter(|relation| self.why_not(**relation).is_none());
        kept.map(|relation| relation.name()).collect()
    }
}

impl Serialize for Promises {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kept", &self.kept())?;
        map.serialize_entry("with", &self.with.iter().copied().collect::<BTreeMap<_, _>>())?;
        let except = self.except.iter().map(|(relation, why)| (relation.name(), *why));
        map.serialize_entry("except", &except.collect::<BTreeMap<_, _>>())?;
        map.end()
    }
}
