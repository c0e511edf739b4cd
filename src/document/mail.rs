//! Mails (RFC 5322 and MIME): who wrote what to whom, the body, the names of the attachments.

use mail_parser::{Address, Message, MessageParser, MessagePart, MimeHeaders as _, PartType};

use super::output::Output;
use super::{Error, Kind, html};

/// Mails attached to mails are followed this deep.
const DEPTH: usize = 4;

pub(super) fn convert(bytes: &[u8]) -> Result<Output, Error> {
    let message = MessageParser::default()
        .parse(bytes)
        .ok_or_else(|| Error::damaged(Kind::Eml, "it has no header that a mail has"))?;
    let mut output = Output::default();
    tell(&message, 1, &mut output);
    output.title = message.subject().map(str::to_owned);
    output.say("author", message.from().map(addresses).as_deref());
    output.say("created", message.date().map(|date| date.to_rfc3339()).as_deref());
    Ok(output)
}

fn tell(message: &Message, level: usize, output: &mut Output) {
    let date = message.date().map(|date| date.to_rfc3339());
    let header = Header {
        subject: message.subject().map(str::to_owned),
        from: message.from().map(addresses),
        to: message.to().map(addresses),
        cc: message.cc().map(addresses),
        bcc: message.bcc().map(addresses),
        date,
    };
    header.tell(level, output);
    // A body told in both forms is the same text twice; the plain one is what its writer saw when the other is made of it.
    let before = output.len();
    for part in message.html_bodies() {
        match &part.body {
            PartType::Html(text) => match html::markdown(text) {
                Ok(markdown) => output.block(&markdown),
                Err(_) => output.block(text),
            },
            PartType::Text(text) => output.block(text),
            _ => {}
        }
    }
    if output.len() == before {
        message.text_bodies().filter_map(MessagePart::text_contents).for_each(|text| output.block(text));
    }
    let names: Vec<String> = message.attachments().map(attachment).collect();
    attachments(&names, level, output);
    for part in message.attachments().filter(|_| level <= DEPTH) {
        if let PartType::Message(inner) = &part.body {
            tell(inner, level + 1, output);
        }
    }
}

/// The head of a message, of whatever format.
#[derive(Debug, Default)]
pub(super) struct Header {
    pub subject: Option<String>,
    pub from: Option<String>,
    pub to: Option<String>,
    pub cc: Option<String>,
    pub bcc: Option<String>,
    pub date: Option<String>,
}

impl Header {
    /// The subject as a heading, the rest as lines.
    pub fn tell(&self, level: usize, output: &mut Output) {
        let subject =
            self.subject.as_deref().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        let subject =
            subject.filter(|text| !text.is_empty()).unwrap_or_else(|| "Mail without a subject".to_owned());
        output.block(&format!("{} {subject}", "#".repeat(level.min(6))));
        let fields = [
            ("From", &self.from),
            ("To", &self.to),
            ("Cc", &self.cc),
            ("Bcc", &self.bcc),
            ("Date", &self.date),
        ];
        let lines = fields.iter().filter_map(|(name, value)| {
            let value = value.as_deref().map(str::trim).filter(|value| !value.is_empty())?;
            Some(format!("**{name}:** {}", value.replace('<', "\\<")))
        });
        output.block(&lines.collect::<Vec<_>>().join("  \n"));
    }
}

pub(super) fn attachments(names: &[String], level: usize, output: &mut Output) {
    if names.is_empty() {
        return;
    }
    output.block(&format!("{} Attachments", "#".repeat((level + 1).min(6))));
    output.block(&names.iter().map(|name| format!("- {name}")).collect::<Vec<_>>().join("\n"));
}

fn addresses(address: &Address) -> String {
    let one = |addr: &mail_parser::Addr| match (addr.name(), addr.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (name, address) => name.or(address).unwrap_or_default().to_owned(),
    };
    address.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn attachment(part: &MessagePart) -> String {
    let size = part.len();
    let name = part.attachment_name().map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "));
    let name = name.unwrap_or_else(|| match &part.body {
        PartType::Message(message) => message.subject().unwrap_or("a mail").to_owned(),
        _ => "without a name".to_owned(),
    });
    format!("{name} ({size} bytes)")
}
