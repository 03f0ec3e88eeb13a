//! Text with names in braces. `{{` and `}}` are plain braces.

use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Plain(String),
    Name(String),
}

/// Text with names in it that are filled in for each node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Part>);

/// Values by name.
pub type Values = BTreeMap<String, String>;

impl Template {
    pub fn parse(text: &str) -> Result<Template, String> {
        let (mut parts, mut plain) = (Vec::new(), String::new());
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '{' | '}' if chars.peek() == Some(&c) => {
                    chars.next();
                    plain.push(c);
                }
                '{' => {
                    let name = name_in_braces(&mut chars);
                    let sound = |c: char| c.is_ascii_alphanumeric() || c == '_';
                    if name.is_empty() || !name.chars().all(sound) {
                        return Err(format!(
                            "{{{name} is no name in braces; a plain brace is written twice"
                        ));
                    }
                    parts.push(Part::Plain(std::mem::take(&mut plain)));
                    parts.push(Part::Name(name));
                }
                '}' => {
                    return Err(
                        "a brace is closed that was not opened; a plain one is written twice"
                            .to_owned(),
                    );
                }
                other => plain.push(other),
            }
        }
        parts.push(Part::Plain(plain));
        Ok(Template(parts))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Name(name) => Some(name.as_str()),
            Part::Plain(_) => None,
        })
    }

    /// Fills the names in; one without a value is an error.
    pub fn fill(&self, values: &Values) -> Result<String, String> {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Plain(plain) => text.push_str(plain),
                Part::Name(name) => match values.get(name) {
                    Some(value) => text.push_str(value),
                    None => return Err(format!("{{{name}}} has no value here")),
                },
            }
        }
        Ok(text)
    }
}

/// The name up to the closing brace; without one, a text that is no name.
fn name_in_braces(chars: &mut impl Iterator<Item = char>) -> String {
    let mut name = String::new();
    for c in chars {
        if c == '}' {
            return name;
        }
        name.push(c);
    }
    name.push('{');
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_in_and_doubled_braces_are_plain() {
        let template = Template::parse("%d{{HH}} {id}@{addr}").expect("sound");
        let values: Values = [("id", "1"), ("addr", "10.0.0.1")]
            .map(|(k, v)| (k.into(), v.into()))
            .into();
        assert_eq!(template.fill(&values).as_deref(), Ok("%d{HH} 1@10.0.0.1"));
    }

    #[test]
    fn a_name_without_a_value_and_a_stray_brace_are_errors() {
        assert!(
            Template::parse("{id}")
                .expect("sound")
                .fill(&Values::new())
                .is_err()
        );
        for text in ["{", "}", "{a b}", "{}", "{id"] {
            assert!(Template::parse(text).is_err(), "{text}");
        }
    }
}
