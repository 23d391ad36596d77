//! The part of JSON Schema that ours use; any other keyword is a fault, so that none goes
//! unchecked. Stricter in one thing: keys that the schema does not name are faults.

use serde_json::Value;

/// Returns the faults of `document` against `schema`, a line each.
///
/// # Panics
/// When `schema` is no schema.
#[must_use]
pub fn faults(schema: &Value, document: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    Check { root: schema, faults: &mut faults }.value(schema, document, "");
    faults
}

struct Check<'a> {
    root: &'a Value,
    faults: &'a mut Vec<String>,
}

impl Check<'_> {
    fn value(&mut self, schema: &Value, value: &Value, path: &str) {
        for (keyword, rule) in schema.as_object().expect("a schema is an object") {
            let good = match keyword.as_str() {
                "$ref" => {
                    let name = rule.as_str().expect("text").trim_start_matches("#/$defs/");
                    self.value(&self.root["$defs"][name], value, path);
                    true
                }
                "type" => has_type(rule, value),
                "const" => rule == value,
                "enum" => rule.as_array().expect("a list").contains(value),
                "anyOf" | "oneOf" => rule.as_array().expect("a list").iter().any(|choice| {
                    let mut faults = Vec::new();
                    Check { root: self.root, faults: &mut faults }.value(choice, value, path);
                    faults.is_empty()
                }),
                "minimum" => value.as_f64().is_none_or(|number| Some(number) >= rule.as_f64()),
                "maximum" => value.as_f64().is_none_or(|number| Some(number) <= rule.as_f64()),
                "required" => rule
                    .as_array()
                    .expect("a list")
                    .iter()
                    .all(|key| value.get(key.as_str().expect("text")).is_some()),
                "properties" => {
                    for (key, part) in value.as_object().into_iter().flatten() {
                        match rule.get(key) {
                            Some(rule) => self.value(rule, part, &format!("{path}/{key}")),
                            None => self.faults.push(format!("{path}/{key} is not described")),
                        }
                    }
                    true
                }
                "minItems" => value.as_array().is_none_or(|list| size(list) >= rule.as_u64()),
                "maxItems" => value.as_array().is_none_or(|list| size(list) <= rule.as_u64()),
                "prefixItems" => {
                    let rules = rule.as_array().expect("a list");
                    let items = value.as_array().into_iter().flatten();
                    for (index, (rule, item)) in rules.iter().zip(items).enumerate() {
                        self.value(rule, item, &format!("{path}/{index}"));
                    }
                    true
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.value(rule, item, &format!("{path}/{index}"));
                    }
                    true
                }
                "$schema" | "$defs" | "title" | "description" | "default" | "format" => true,
                _ => false,
            };
            if !good {
                self.faults.push(format!("{path}: {keyword} {rule} against {value}"));
            }
        }
    }
}

fn size(list: &[Value]) -> Option<u64> {
    u64::try_from(list.len()).ok()
}

fn has_type(rule: &Value, value: &Value) -> bool {
    let one = |name: &Value| match name.as_str().expect("text") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        _ => false,
    };
    rule.as_array().map_or_else(|| one(rule), |names| names.iter().any(one))
}
