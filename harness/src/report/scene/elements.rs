//! The single values that a finding's witnesses name, such as the element that a set has lost.

use plimsoll_checkers::history::{History, Value};
use serde_json::Value as Json;

use super::focus::cut;
use super::span::Span;

/// Shorter lists are read at a glance.
const LONG: usize = 8;
/// Elements that are looked for in one list, and how much of each is shown.
const LOOKED_FOR: usize = 3;
const ELEMENT_CHARS: usize = 40;

/// Each number or text that is the whole value of a witness op, once.
pub fn elements<'h>(history: &'h History, witnesses: &[Span]) -> Vec<&'h Json> {
    let ends = |span: &Span| [Some(span.from), span.to];
    let positions = witnesses.iter().flat_map(ends).flatten();
    let mut elements: Vec<&Json> = Vec::new();
    for position in positions {
        if let Value::Other(json @ (Json::Number(_) | Json::String(_))) =
            &history.ops()[position].value
            && !elements.contains(&json)
        {
            elements.push(json);
        }
    }
    elements
}

/// What a long list that was read says about those elements.
pub fn membership(value: &Value, elements: &[&Json]) -> Option<String> {
    let Value::Other(Json::Array(list)) = value else {
        return None;
    };
    if list.len() <= LONG || elements.is_empty() {
        return None;
    }
    let said = elements.iter().take(LOOKED_FOR).map(|element| {
        let text = cut(&element.to_string(), ELEMENT_CHARS);
        match list.iter().filter(|one| one == element).count() {
            0 => format!("{text} is not among them"),
            1 => format!("{text} is among them"),
            times => format!("{text} is among them {times} times"),
        }
    });
    let said: Vec<String> = said.collect();
    Some(format!("{} elements, {}", list.len(), said.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_read_says_whether_it_has_the_element() {
        let list = Value::Other((0..100).map(Json::from).collect());
        let (had, lost) = (Json::from(7), Json::from(100));
        assert_eq!(
            membership(&list, &[&had, &lost]).as_deref(),
            Some("100 elements, 7 is among them, 100 is not among them")
        );
        assert_eq!(membership(&list, &[]), None);
        assert_eq!(
            membership(&Value::Other(Json::from(vec![1])), &[&had]),
            None
        );
    }
}
