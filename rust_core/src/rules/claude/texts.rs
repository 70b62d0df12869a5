//! The texts in which Claude reads tools, calls and schemas.

use serde_json::Value;

use crate::conversation::Function;
use crate::rules::json::spaced;

/// A tool's declaration.
pub fn function(function: &Function) -> String {
    let mut fields = serde_json::Map::new();
    if !function.description.is_empty() {
        fields.insert("description".into(), function.description.as_str().into());
    }
    fields.insert("name".into(), function.name.as_str().into());
    fields.insert("parameters".into(), function.parameters.clone().unwrap_or_default());
    format!("<function>{}</function>\n", spaced(&Value::Object(fields)))
}

/// A call, with one element for each argument; strings stand there without quotes. Arguments that
/// are no JSON object are one text.
pub fn call(name: &str, arguments: &str) -> String {
    let mut text = format!("<invoke name=\"{name}\">\n");
    match serde_json::from_str(arguments) {
        Ok(Value::Object(arguments)) => {
            for (key, value) in &arguments {
                let value = value.as_str().map_or_else(|| spaced(value), str::to_owned);
                text.extend(["<parameter name=\"", key, "\">", &value, "</parameter>\n"]);
            }
        }
        _ => text += arguments,
    }
    text + "</invoke>\n"
}

/// JSON with two spaces of indent.
pub fn indented_json(value: &Value) -> String {
    format!("{value:#}")
}

#[cfg(test)]
mod tests {
    use serde_json::json as value;

    use super::*;

    #[test]
    fn a_function_is_json_in_an_element() {
        let tool = Function {
            name: "get_tide".into(),
            parameters: Some(value!({"type": "object", "required": ["port", "day"]})),
            ..Function::default()
        };
        assert_eq!(
            function(&tool),
            "<function>{\"name\": \"get_tide\", \"parameters\": {\"type\": \"object\", \
             \"required\": [\"port\", \"day\"]}}</function>\n"
        );
        let described = Function { description: "Tide tables".into(), ..tool };
        assert!(function(&described).starts_with("<function>{\"description\": \"Tide tables\", "));
    }

    #[test]
    fn a_call_has_an_element_for_each_argument() {
        assert_eq!(
            call("get_tide", r#"{"port":"Brest","days":[1,2]}"#),
            "<invoke name=\"get_tide\">\n<parameter name=\"port\">Brest</parameter>\n\
             <parameter name=\"days\">[1, 2]</parameter>\n</invoke>\n"
        );
        assert_eq!(call("f", "not json"), "<invoke name=\"f\">\nnot json</invoke>\n");
    }
}
