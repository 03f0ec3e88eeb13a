//! A description as it stands in its file, with the places of what is checked
//! later.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Raw {
    pub name: Spanned<String>,
    #[serde(default)]
    pub state: Option<Spanned<String>>,
    #[serde(default)]
    pub needs: Option<Spanned<String>>,
    /// Whether it was run as it stands by those who wrote it.
    #[serde(default = "yes")]
    pub tested: bool,
    pub ports: RawPorts,
    #[serde(default)]
    pub limits: RawLimits,
    #[serde(default)]
    pub vars: BTreeMap<Spanned<String>, Spanned<String>>,
    pub node: RawNode,
    #[serde(default)]
    pub file: Vec<RawFile>,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawPorts {
    pub client: Spanned<u16>,
    #[serde(default)]
    pub replication: Option<Spanned<u16>>,
    #[serde(default)]
    pub controller: Option<Spanned<u16>>,
    #[serde(default)]
    pub admin: Option<Spanned<u16>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawLimits {
    #[serde(default)]
    pub start: Option<Spanned<String>>,
    #[serde(default)]
    pub settle: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawNode {
    #[serde(default)]
    pub prepare: Vec<Spanned<Vec<Spanned<String>>>>,
    pub command: Spanned<Vec<Spanned<String>>>,
    #[serde(default)]
    pub optional: Vec<RawOptional>,
    #[serde(default)]
    pub env: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    pub data: Option<Spanned<String>>,
    #[serde(default)]
    pub partition: Option<Spanned<String>>,
    #[serde(default)]
    pub stop: Option<Spanned<String>>,
    #[serde(default)]
    pub logs: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawOptional {
    pub when: Spanned<String>,
    pub args: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawFile {
    pub path: Spanned<String>,
    #[serde(default, rename = "for")]
    pub roles: Vec<Spanned<String>>,
    pub text: Spanned<String>,
}
