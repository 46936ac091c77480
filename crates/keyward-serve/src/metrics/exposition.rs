//! The text that Prometheus reads: `OpenMetrics` 1.0 where it is asked for, else the older text format.

use std::fmt::Write as _;

/// How it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    OpenMetrics,
    Text,
}

impl Form {
    pub(super) fn content_type(self) -> &'static str {
        match self {
            Form::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Form::Text => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// What a number does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Gauge,
    /// It only rises; its samples end in `_total`
    Counter,
}

/// A text that is being written, family by family.
#[derive(Debug)]
pub(super) struct Exposition {
    form: Form,
    text: String,
    /// The name of the current family's samples
    name: String,
    /// Its head, until it has a sample
    head: Option<String>,
    /// The names of all families, with a sample or without
    #[cfg(test)]
    pub(super) names: std::collections::BTreeSet<String>,
}

impl Exposition {
    pub(super) fn new(form: Form) -> Self {
        Exposition {
            form,
            text: String::new(),
            name: String::new(),
            head: None,
            #[cfg(test)]
            names: std::collections::BTreeSet::new(),
        }
    }

    /// Begins a family; without a sample, nothing of it is written.
    pub(super) fn family(&mut self, name: &str, kind: Kind, help: &str) {
        let (suffix, word) = match kind {
            Kind::Gauge => ("", "gauge"),
            Kind::Counter => ("_total", "counter"),
        };
        self.name = format!("{name}{suffix}");
        #[cfg(test)]
        self.names.insert(self.name.clone());
        let named = if self.form == Form::OpenMetrics { name } else { self.name.as_str() };
        self.head = Some(format!("# HELP {named} {help}\n# TYPE {named} {word}\n"));
    }

    /// Adds a sample to the family.
    pub(super) fn sample(&mut self, labels: &[(&str, &str)], value: f64) {
        if let Some(head) = self.head.take() {
            self.text.push_str(&head);
        }
        self.text.push_str(&self.name);
        for (number, (name, value)) in labels.iter().enumerate() {
            self.text.push(if number == 0 { '{' } else { ',' });
            self.text.push_str(name);
            self.text.push_str("=\"");
            escape(value, &mut self.text);
            self.text.push('"');
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }

    /// A sample where the number is known.
    pub(super) fn known(&mut self, labels: &[(&str, &str)], value: Option<u64>) {
        if let Some(value) = value {
            self.sample(labels, float(value));
        }
    }

    pub(super) fn finish(mut self) -> String {
        if self.form == Form::OpenMetrics {
            self.text.push_str("# EOF\n");
        }
        self.text
    }
}

fn escape(value: &str, out: &mut String) {
    for char in value.chars() {
        match char {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            char => out.push(char),
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "samples are floats")]
pub(super) fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_without_samples_is_left_out_and_labels_are_escaped() {
        let write = |form| {
            let mut out = Exposition::new(form);
            out.family("a", Kind::Gauge, "Nothing");
            out.family("b", Kind::Counter, "Something");
            out.sample(&[("x", "a\"b\\c\nd"), ("y", "")], 1.5);
            out.known(&[], None);
            out.known(&[], Some(3));
            out.finish()
        };
        assert_eq!(
            write(Form::OpenMetrics),
            "# HELP b Something\n# TYPE b counter\nb_total{x=\"a\\\"b\\\\c\\nd\",y=\"\"} 1.5\nb_total 3\n# EOF\n"
        );
        assert_eq!(
            write(Form::Text),
            "# HELP b_total Something\n# TYPE b_total counter\n\
             b_total{x=\"a\\\"b\\\\c\\nd\",y=\"\"} 1.5\nb_total 3\n"
        );
    }
}
