//! Each format on a small document made here: what has to come out of it, word for word.

use std::io::{Cursor, Write as _};

use wikiwright::document::{Converted, Error, Kind, Place};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn zip(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Converts under its own name and without any, which has to give the same.
fn convert(bytes: &[u8], name: &str, kind: Kind) -> Converted {
    let converted = super::convert(bytes, name).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(converted.kind, kind, "{name}");
    converted
}

fn assert_has(converted: &Converted, wanted: &[&str]) {
    for part in wanted {
        assert!(converted.markdown.contains(part), "no {part:?} in\n{}", converted.markdown);
    }
}

const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";

fn types(part: &str, kind: &str) -> String {
    format!(
        "<Types xmlns=\"{PACKAGE}/content-types\"><Default Extension=\"rels\" \
         ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"xml\" \
         ContentType=\"application/xml\"/><Override PartName=\"/{part}\" \
         ContentType=\"application/vnd.openxmlformats-officedocument.{kind}.main+xml\"/></Types>"
    )
}

fn relations(targets: &[(&str, &str)]) -> String {
    let all: String = targets
        .iter()
        .enumerate()
        .map(|(number, (kind, target))| {
            format!(
                "<Relationship Id=\"rId{}\" Type=\"{RELATIONS}/{kind}\" Target=\"{target}\"/>",
                number + 1
            )
        })
        .collect();
    format!("<Relationships xmlns=\"{PACKAGE}/relationships\">{all}</Relationships>")
}

fn docx(part: &str) -> Vec<u8> {
    let math = "http://schemas.openxmlformats.org/officeDocument/2006/math";
    let run = |text: &str| format!("<m:r><m:t>{text}</m:t></m:r>");
    let document = format!(
        "<w:document xmlns:w=\"{WORD}\" xmlns:m=\"{math}\"><w:body>\
         <w:p><w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr><w:r><w:t>Tides</w:t></w:r></w:p>\
         <w:p><w:r><w:t>One line</w:t><w:br/><w:t>and another.</w:t></w:r></w:p>\
         <w:p><w:r><w:t xml:space=\"preserve\">So </w:t></w:r><m:oMath><m:f><m:num>{}</m:num><m:den>{}</m:den></m:f>\
         </m:oMath><w:r><w:t xml:space=\"preserve\"> it is.</w:t></w:r></w:p>\
         <w:p><m:oMathPara><m:oMath><m:sSup><m:e>{}</m:e><m:sup>{}</m:sup></m:sSup></m:oMath></m:oMathPara></w:p>\
         <w:p><w:r><w:t>☒ done</w:t></w:r></w:p>\
         <w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val=\"2\"/></w:tcPr><w:p><w:r><w:t>Both</w:t></w:r></w:p></w:tc></w:tr>\
         <w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>2</w:t></w:r></w:p></w:tc></w:tr></w:tbl>\
         </w:body></w:document>",
        run("a_1"),
        run("π"),
        run("x"),
        run("2"),
    );
    let styles = format!(
        "<w:styles xmlns:w=\"{WORD}\"><w:style w:type=\"paragraph\" w:styleId=\"Heading1\"><w:name w:val=\"heading 1\"/>\
         <w:pPr><w:outlineLvl w:val=\"0\"/></w:pPr></w:style></w:styles>"
    );
    let name = part.rsplit('/').next().unwrap();
    zip(&[
        ("[Content_Types].xml", &types(part, "wordprocessingml.document")),
        ("_rels/.rels", &relations(&[("officeDocument", part)])),
        (part, &document),
        (&format!("word/_rels/{name}.rels"), &relations(&[("styles", "styles.xml")])),
        ("word/styles.xml", &styles),
    ])
}

#[test]
fn docx_with_equations_merged_cells_and_boxes() {
    for part in ["word/document.xml", "word/document2.xml"] {
        let converted = convert(&docx(part), "a.docx", Kind::Docx);
        assert_has(
            &converted,
            &[
                "# Tides\n",
                "One line  \nand another.",
                "So $\\frac{a\\_1}{\\pi}$ it is.",
                "\n$$x^{2}$$\n",
                "- [x] done",
                "| Both | Both |\n",
                "| 1 | 2 |\n",
            ],
        );
    }
}

#[test]
fn xlsx_with_sheets_numbers_and_merged_cells() {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let text = |cell: &str, text: &str| format!("<c r=\"{cell}\" t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let sheet = format!(
        "<worksheet xmlns=\"{main}\"><sheetData><row r=\"1\">{}{}</row><row r=\"2\">{}<c r=\"B2\">\
         <v>2.5000000000000001E-2</v></c></row><row r=\"3\"><c r=\"B3\"><v>0.30000000000000004</v></c></row></sheetData>\
         <mergeCells><mergeCell ref=\"A2:A3\"/></mergeCells></worksheet>",
        text("A1", "Name"),
        text("B1", "Share|part"),
        text("A2", "mill"),
    );
    let second = format!(
        "<worksheet xmlns=\"{main}\"><sheetData><row r=\"1\">{}</row></sheetData></worksheet>",
        text("A1", "second")
    );
    let workbook = format!(
        "<workbook xmlns=\"{main}\" xmlns:r=\"{RELATIONS}\"><sheets><sheet name=\"Data\" sheetId=\"1\" r:id=\"rId1\"/>\
         <sheet name=\"A --&gt; B\" sheetId=\"2\" r:id=\"rId2\"/></sheets></workbook>"
    );
    let bytes = zip(&[
        ("[Content_Types].xml", &types("xl/workbook.xml", "spreadsheetml.sheet")),
        ("_rels/.rels", &relations(&[("officeDocument", "xl/workbook.xml")])),
        ("xl/workbook.xml", &workbook),
        (
            "xl/_rels/workbook.xml.rels",
            &relations(&[("worksheet", "worksheets/sheet1.xml"), ("worksheet", "worksheets/sheet2.xml")]),
        ),
        ("xl/worksheets/sheet1.xml", &sheet),
        ("xl/worksheets/sheet2.xml", &second),
    ]);
    let converted = convert(&bytes, "a.xlsx", Kind::Xlsx);
    assert_has(
        &converted,
        &[
            "<!-- sheet 1: Data -->\n\n## Data\n",
            "| Name | Share\\|part |\n",
            "| mill | 0.025 |\n| mill | 0.3 |\n",
            "<!-- sheet 2: A - -> B -->\n",
            "second",
        ],
    );
    let places: Vec<&Place> = converted.positions.iter().map(|position| &position.place).collect();
    assert_eq!(*places[1], Place::Sheet { number: 2, name: "A --> B".into() });
    assert!(converted.markdown[converted.positions[1].offset..].starts_with("<!-- sheet 2"));
}

#[test]
fn pptx_with_slides() {
    let main = "http://schemas.openxmlformats.org/presentationml/2006/main";
    let drawing = "http://schemas.openxmlformats.org/drawingml/2006/main";
    let slide = |title: &str| {
        format!(
            "<p:sld xmlns:p=\"{main}\" xmlns:a=\"{drawing}\"><p:cSld><p:spTree><p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"t\"/>\
             <p:cNvSpPr/><p:nvPr><p:ph type=\"title\"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r>\
             <a:t>{title}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
        )
    };
    let presentation = format!(
        "<p:presentation xmlns:p=\"{main}\" xmlns:r=\"{RELATIONS}\"><p:sldIdLst><p:sldId id=\"256\" r:id=\"rId1\"/>\
         <p:sldId id=\"257\" r:id=\"rId2\"/></p:sldIdLst></p:presentation>"
    );
    let bytes = zip(&[
        ("[Content_Types].xml", &types("ppt/presentation.xml", "presentationml.presentation")),
        ("_rels/.rels", &relations(&[("officeDocument", "ppt/presentation.xml")])),
        ("ppt/presentation.xml", &presentation),
        (
            "ppt/_rels/presentation.xml.rels",
            &relations(&[("slide", "slides/slide1.xml"), ("slide", "slides/slide2.xml")]),
        ),
        ("ppt/slides/slide1.xml", &slide("First")),
        ("ppt/slides/slide2.xml", &slide("Second")),
    ]);
    let converted = convert(&bytes, "a.pptx", Kind::Pptx);
    assert_eq!(converted.markdown.trim(), "<!-- slide 1 -->\n\n# First\n\n<!-- slide 2 -->\n\n# Second");
}

const OFFICE: &str = "xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
                      xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" \
                      xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\"";

fn opendocument(kind: &str, body: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content {OFFICE}><office:body>{body}</office:body></office:document-content>"
    );
    let manifest =
        "<manifest:manifest xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\"/>";
    zip(&[
        ("mimetype", &format!("application/vnd.oasis.opendocument.{kind}")),
        ("content.xml", &content),
        ("META-INF/manifest.xml", manifest),
    ])
}

#[test]
fn opendocument_text_and_spreadsheet() {
    let text = "<office:text><text:h text:outline-level=\"2\">Head</text:h><text:p>A<text:s text:c=\"2\"/>line.</text:p>\
                </office:text>";
    assert_has(&convert(&opendocument("text", text), "a.odt", Kind::Odt), &["## Head\n", "line."]);
    let cell = |text: &str| {
        format!("<table:table-cell office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>")
    };
    let sheet = format!(
        "<office:spreadsheet><table:table table:name=\"One\"><table:table-row>{}{}</table:table-row><table:table-row>{}{}\
         </table:table-row></table:table></office:spreadsheet>",
        cell("a"),
        cell("b"),
        cell("c"),
        cell("d")
    );
    let converted = convert(&opendocument("spreadsheet", &sheet), "a.ods", Kind::Ods);
    assert_has(&converted, &["<!-- sheet 1: One -->\n\n## One\n", "| a | b |\n", "| c | d |\n"]);
}

#[test]
fn epub_in_the_order_of_its_spine() {
    let container = "<container><rootfiles><rootfile full-path=\"OEBPS/book.opf\"/></rootfiles></container>";
    let package = "<package xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><metadata><dc:title>Tides &amp; Mills</dc:title>\
                   <dc:creator>A. Miller</dc:creator><dc:language>en</dc:language></metadata><manifest>\
                   <item id=\"b\" href=\"two%20.xhtml\"/><item id=\"a\" href=\"../one.xhtml\"/></manifest>\
                   <spine><itemref idref=\"a\"/><itemref idref=\"b\"/><itemref idref=\"c\"/></spine></package>";
    let bytes = zip(&[
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", container),
        ("OEBPS/book.opf", package),
        ("OEBPS/two .xhtml", "<html><body><h1>Two</h1></body></html>"),
        ("one.xhtml", "<html><body><h1>One</h1><p>First.</p></body></html>"),
    ]);
    let converted = convert(&bytes, "a.epub", Kind::Epub);
    assert_eq!(converted.title.as_deref(), Some("Tides & Mills"));
    assert_has(
        &converted,
        &[
            "**Title:** Tides & Mills",
            "**Language:** en",
            "<!-- chapter 1 -->\n\n# One\n\nFirst.\n\n<!-- chapter 2 -->\n\n# Two",
        ],
    );
    assert_eq!(converted.notes, ["1 of the book's 3 parts are missing in the file."]);
}

/// One page per text, each text a content stream.
fn pdf(pages: &[&str]) -> Vec<u8> {
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    let kids: String = (0..pages.len()).map(|page| format!("{} 0 R ", 4 + 2 * page)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for (number, stream) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents {} 0 R >>",
            5 + 2 * number
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
    }
    for (number, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.extend(format!("{} 0 obj\n{object}\nendobj\n", number + 1).bytes());
    }
    let start = out.len();
    out.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    places.iter().for_each(|place| out.extend(format!("{place:010} 00000 n \n").bytes()));
    let size = objects.len() + 1;
    out.extend(format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").bytes());
    out
}

fn at(x: u32, y: u32, text: &str) -> String {
    format!("BT /F1 12 Tf {x} {y} Td ({text}) Tj ET\n")
}

#[test]
fn pdf_page_by_page() {
    let converted = convert(
        &pdf(&[&at(72, 700, "The first page."), "", &at(72, 700, "The third page.")]),
        "a.pdf",
        Kind::Pdf,
    );
    assert_eq!(
        converted.markdown.trim(),
        "<!-- page 1 -->\n\nThe first page.\n\n<!-- page 2 -->\n\n<!-- page 3 -->\n\nThe third page."
    );
    assert_eq!(converted.positions[2].place, Place::Page(3));
    assert_eq!(converted.notes, ["Page 2 has no text layer: blank, or a picture."]);
    assert!(matches!(super::convert(&pdf(&["", ""]), "a.pdf"), Err(Error::NoText { pages: 2, .. })));
}

#[test]
fn pdf_table_without_lines() {
    let mut page = at(72, 740, "Prose before the table, long enough to be a line of its own on this page.");
    for row in 0..6 {
        for column in 0..4 {
            page += &at(72 + 120 * column, 700 - 16 * row, &format!("cell{row}{column}"));
        }
    }
    page += &at(72, 560, "Prose after the table, long enough to be a line of its own on this page.");
    let converted = convert(&pdf(&[&page]), "a.pdf", Kind::Pdf);
    assert_has(
        &converted,
        &[
            "| cell00 | cell01 | cell02 | cell03 |\n| --- | --- | --- | --- |\n",
            "| cell50 | cell51 | cell52 | cell53 |\n",
        ],
    );
}

#[test]
fn text_of_any_encoding() {
    let sjis: &[u8] =
        b"<html><head><meta charset=\"shift_jis\"></head><body><p>\x93\xfa\x96\x7b</p></body></html>";
    assert_has(&convert(sjis, "a.html", Kind::Html), &["日本"]);
    let wide: Vec<u8> = "plain text, wide".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(convert(&wide, "a.txt", Kind::Text).markdown, "plain text, wide");
    let marked: Vec<u8> =
        [0xFE, 0xFF].into_iter().chain("Größe".encode_utf16().flat_map(u16::to_be_bytes)).collect();
    assert_eq!(convert(&marked, "a.txt", Kind::Text).markdown, "Größe");
    assert_eq!(convert(b"\xef\xbb\xbf# A\r\nb", "a.md", Kind::Markdown).markdown, "# A\nb");
    let latin: &[u8] = b"name;gr\xf6\xdfe\nStra\xdfe;\xfcber\n";
    assert_has(&convert(latin, "a.csv", Kind::Csv), &["| name | größe |\n", "| Straße | über |\n"]);
}

#[test]
fn tables_of_text() {
    let csv = "a,b\n\"x, y\",\"two\nlines\"\n1,\"p|q\"\n";
    let converted = convert(csv.as_bytes(), "a.csv", Kind::Csv);
    assert_eq!(converted.markdown, "| a | b |\n| --- | --- |\n| x, y | two lines |\n| 1 | p\\|q |\n");
    assert_has(&convert(b"a\tb\n1, 2\t3\n", "a.tsv", Kind::Tsv), &["| 1, 2 | 3 |\n"]);
}

#[test]
fn html_keeps_what_is_shown() {
    let page = "<!DOCTYPE html><html><head><title>A &amp; B</title><style>p {}</style><script>bad()</script></head>\
                <body><nav>Menu</nav><h2>Head</h2><p>One <b>two</b>.</p><form>Asked</form><table><tr><td rowspan=2>r</td>\
                <td>1</td></tr><tr><td>2</td></tr></table></body></html>";
    let converted = convert(page.as_bytes(), "a.html", Kind::Html);
    assert_eq!(converted.title.as_deref(), Some("A & B"));
    assert_has(&converted, &["Menu", "## Head", "One **two**.", "Asked", "| r | 1 |", "| r | 2 |"]);
    assert!(!converted.markdown.contains("bad()"));
}

#[test]
fn feeds_notebooks_and_data() {
    let rss = "<?xml version=\"1.0\"?><rss><channel><title>Chan</title><image><title>no</title></image><item><title>It &amp; \
               that</title><link>http://x/1</link><description><![CDATA[<p>Some <b>bold</b></p>]]></description></item>\
               </channel></rss>";
    let converted = convert(rss.as_bytes(), "a.xml", Kind::Xml);
    assert_eq!(converted.title.as_deref(), Some("Chan"));
    assert_has(&converted, &["# Chan\n", "## It & that\n", "http://x/1", "Some **bold**"]);
    assert!(!converted.markdown.contains("no\n"));
    let atom = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>F</title><entry><title>E</title><link href=\"http://x\"/>\
                <author><name>Ann</name></author><summary>S</summary></entry></feed>";
    assert_has(
        &convert(atom.as_bytes(), "a.xml", Kind::Xml),
        &["# F\n", "## E\n", "Author: Ann", "Link: http://x", "S\n"],
    );
    let plain = convert(b"<?xml version=\"1.0\"?><a>```</a>", "a.xml", Kind::Xml);
    assert_eq!(plain.markdown, "````xml\n<?xml version=\"1.0\"?><a>```</a>\n````\n");
    let notebook = r##"{"nbformat":4,"metadata":{"language_info":{"name":"rust"}},"cells":[
        {"cell_type":"markdown","source":["# Head\n","text"]},
        {"cell_type":"code","source":"let x = 1;","outputs":[{"output_type":"stream","text":["out\n"]}]}]}"##;
    let converted = convert(notebook.as_bytes(), "a.ipynb", Kind::Notebook);
    assert_eq!(converted.markdown, "# Head\ntext\n\n```rust\nlet x = 1;\n```\n\n```\nout\n```\n");
    assert_has(&convert(b"{\"a\": [1]}", "a.json", Kind::Json), &["```json\n{\"a\": [1]}\n```"]);
}

#[test]
fn rtf_with_a_heading_a_table_and_a_code_page() {
    let rtf = "{\\rtf1\\ansi\\ansicpg1251{\\stylesheet{\\s1 heading 1;}}\\pard\\s1 Head\\par\\pard \\'cf\\'f0 text\\par\
               \\trowd\\cellx1\\cellx2\\pard\\intbl a\\cell b\\cell\\row\\trowd\\pard\\intbl c\\cell d\\cell\\row\\pard After\\par}";
    for text in [rtf, &rtf[..rtf.len() - 1]] {
        let converted = convert(text.as_bytes(), "a.rtf", Kind::Rtf);
        assert_eq!(
            converted.markdown.trim(),
            "# Head\n\nПр text\n\n| a | b |\n| --- | --- |\n| c | d |\n\nAfter",
            "{text}"
        );
    }
}

#[test]
fn eml_with_parts_and_attachments() {
    let eml = "From: =?iso-8859-1?Q?J=F6rg?= <j@x.org>\r\nTo: a@x.org, b@x.org\r\nSubject: The\r\n tides\r\n\
               Date: Tue, 1 Dec 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=B\r\n\r\n\
               --B\r\nContent-Type: multipart/alternative; boundary=C\r\n\r\n--C\r\nContent-Type: text/plain\r\n\r\nplain body\r\n\
               --C\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
               <p>html <b>b=C3=B6dy</b></p>\r\n--C--\r\n--B\r\nContent-Type: application/pdf; name=\"a.pdf\"\r\n\
               Content-Disposition: attachment; filename=\"a.pdf\"\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--B--\r\n";
    let converted = convert(eml.as_bytes(), "a.eml", Kind::Eml);
    assert_eq!(converted.title.as_deref(), Some("The tides"));
    assert_has(
        &converted,
        &[
            "# The tides\n",
            "**From:** Jörg \\<j@x.org>",
            "**To:** a@x.org, b@x.org",
            "2026-12-01T10:00:00Z",
            "html **bödy**",
            "- a.pdf (3 bytes)",
        ],
    );
    assert!(!converted.markdown.contains("plain body"), "{}", converted.markdown);
}

#[test]
fn msg_in_a_code_page() {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    let mut put = |path: &str, bytes: &[u8]| file.create_stream(path).unwrap().write_all(bytes).unwrap();
    let mut fixed = vec![0; 32];
    for (tag, value) in [(0x3FFD_0003_u32, 936_u64), (0x0039_0040, 134_092_224_000_000_000)] {
        fixed.extend(tag.to_le_bytes());
        fixed.extend([0; 4]);
        fixed.extend(value.to_le_bytes());
    }
    put("/__properties_version1.0", &fixed);
    put("/__substg1.0_0037001E", b"\xc4\xe3\xba\xc3");
    put("/__substg1.0_1000001E", b"\xca\xc0\xbd\xe7\r\nline");
    let wide: Vec<u8> = "Ann".encode_utf16().flat_map(u16::to_le_bytes).collect();
    put("/__substg1.0_0C1A001F", &wide);
    put("/__substg1.0_5D01001E", b"ann@x.org");
    file.create_storage("/__attach_version1.0_#00000000").unwrap();
    file.create_stream("/__attach_version1.0_#00000000/__substg1.0_3707001E")
        .unwrap()
        .write_all(b"p.png")
        .unwrap();
    file.flush().unwrap();
    let converted = convert(&file.into_inner().into_inner(), "a.msg", Kind::Msg);
    assert_has(
        &converted,
        &[
            "# 你好\n",
            "**From:** Ann \\<ann@x.org>",
            "世界\nline",
            "## Attachments\n\n- p.png",
            "**Date:** 2025-",
        ],
    );
}

#[test]
fn what_cannot_be_read_says_what_to_do() {
    let odd = |bytes: &[u8], name: &str| super::convert(bytes, name).unwrap_err().to_string();
    assert_eq!(odd(b"", "a.docx"), "The file is empty, so there is nothing to read.");
    assert!(odd(b"\x89PNG\r\n\x1a\n\0\0", "a.pdf").starts_with("The file is a PNG image, which has no text"));
    assert!(odd(&zip(&[("x", "y")]), "a").starts_with("The file is a zip archive, which"));
    let cut = docx("word/document.xml");
    assert_eq!(
        odd(&cut[..cut.len() / 2], "a.docx"),
        "The Word document is damaged and cannot be read: its end is missing. Get it again from where it came, or save it \
         anew."
    );
    assert!(odd(b"\0\x01\x02\x03\xff\0\0\x07", "a.bin").contains("a binary file of an unknown format"));
    let mut locked = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    locked.create_stream("/EncryptedPackage").unwrap();
    let locked = locked.into_inner().into_inner();
    assert!(odd(&locked, "a.docx").starts_with("The Word document is locked with a password."));
    assert!(odd(&locked, "a").starts_with("The Office document is locked with a password."));
}
