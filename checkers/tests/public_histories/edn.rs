//! Just enough of EDN to read the public histories.

use serde_json::{Map, Value as Json};

/// The ops of a file that holds a vector of them, or one a line.
pub fn ops(text: &str) -> Vec<Json> {
    let mut rest = Rest(text);
    let mut found = Vec::new();
    while !rest.at_end() {
        match rest.value() {
            Json::Array(ops) => found.extend(ops),
            op => found.push(op),
        }
    }
    found
}

/// One value.
pub fn parse(text: &str) -> Json {
    Rest(text).value()
}

struct Rest<'t>(&'t str);

impl Rest<'_> {
    fn at_end(&mut self) -> bool {
        self.0 = self.0.trim_start_matches([' ', '\t', '\n', '\r', ',']);
        while self.0.starts_with(';') {
            self.0 = self.0.split_once('\n').map_or("", |(_, rest)| rest);
            self.0 = self.0.trim_start_matches([' ', '\t', '\n', '\r', ',']);
        }
        self.0.is_empty()
    }

    fn take(&mut self, start: &str) -> bool {
        let end = self.at_end();
        let rest = self.0.strip_prefix(start);
        self.0 = rest.unwrap_or(self.0);
        !end && rest.is_some()
    }

    fn value(&mut self) -> Json {
        if self.take("[") {
            let mut list = Vec::new();
            while !self.take("]") {
                list.push(self.value());
            }
            return Json::Array(list);
        }
        if self.take("{") {
            let mut map = Map::new();
            while !self.take("}") {
                let name = self.value();
                map.insert(name.as_str().unwrap().to_owned(), self.value());
            }
            return Json::Object(map);
        }
        if self.take("\"") {
            let (text, rest) = self.0.split_once('"').unwrap();
            self.0 = rest;
            return Json::from(text);
        }
        let end = self.0.find([' ', '\t', '\n', '\r', ',', ']', '}', '"']);
        let (word, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        match word {
            "nil" => Json::Null,
            _ => match word.strip_prefix(':') {
                Some(name) => Json::from(name),
                None => word.parse::<i64>().map_or(Json::from(word), Json::from),
            },
        }
    }
}
