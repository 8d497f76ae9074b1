/**
 * Execution module `xml`: texts and attributes of elements in files of XML.
 * Source: the functions of Salt 3008.3 `salt/modules/xml.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { replaceFile } from "#lib/host/filesystem/contents.ts";
import { findFirst } from "#lib/host/texts/element_path.ts";
import { XmlDocument, type XmlNode } from "#lib/host/texts/xml_document.ts";
import { asCommandError } from "#lib/os/command_error.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { encodeText, textDecoder } from "#lib/text/encoding.ts";
import { str, type Value } from "#lib/values/value.ts";

/** A document with its file's encoding, and the element that was looked for. */
interface Opened {
  readonly document: XmlDocument;
  readonly encoding: string | null;
  readonly node: XmlNode | undefined;
}

/** The encoding that the first line declares; `null`: none, which is UTF-8. */
function declaredEncoding(bytes: Uint8Array): string | null {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) return "utf-16";
  const beginning = new TextDecoder("latin1").decode(bytes.subarray(0, 200));
  return /^(?:\xef\xbb\xbf)?<\?xml[^>]*?\sencoding\s*=\s*["']([\w.-]+)["']/.exec(beginning)?.[1] ?? null;
}

function open({ file, element }: { readonly file: string; readonly element: string }, { log }: JobContext): Opened {
  try {
    const bytes = Deno.readFileSync(file);
    const encoding = declaredEncoding(bytes);
    const { text, exact } = textDecoder(encoding)(bytes);
    if (!exact) throw new CommandError(`${file} is not ${encoding ?? "UTF-8"}`);
    const document = XmlDocument.parse(text);
    const node = findFirst(document.root, element);
    if (node === undefined) log("error", `Unable to find element matching ${element}`);
    return { document, encoding, node };
  } catch (error) {
    throw asCommandError(error, file);
  }
}

/** Writes the document; a character that the encoding lacks becomes a reference. */
function save(file: string, text: string, encoding: string | null): true {
  const encoded = [...text].map((one) => {
    if (one <= "\x7f" || encodeText(one, encoding, "ignore").length > 0) return one;
    return `&#${one.codePointAt(0)};`;
  });
  try {
    replaceFile(realPath(file), encodeText(isUnicode(encoding) ? text : encoded.join(""), encoding));
  } catch (error) {
    throw asCommandError(error, file);
  }
  return true;
}

function isUnicode(encoding: string | null): boolean {
  return encoding === null || /^utf/i.test(encoding);
}

const PLACE = { file: p.str(), element: p.str() };

export const get_value: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the text of the first element that a path selects; False if there is none. " +
      "Paths are those of Python's ElementTree.",
    'xml.get_value /tmp/test.xml ".//element"',
  ),
  permissions: { read: true },
  params: PLACE,
  run: (place, context) => {
    const { node } = open(place, context);
    return node === undefined ? false : node.text;
  },
});

export const set_value: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set the text of the first element that a path selects. Return False if there is none.",
    'xml.set_value /tmp/test.xml ".//element" "new value"',
  ),
  permissions: "all",
  params: { ...PLACE, value: p.any() },
  run: ({ value, ...place }, context) => {
    const { document, encoding, node } = open(place, context);
    return node !== undefined && save(place.file, document.withText(node, str(value)), encoding);
  },
});

export const get_attribute: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the attributes of the first element that a path selects; False if there is none.",
    `xml.get_attribute /tmp/test.xml ".//element[@id='3']"`,
  ),
  permissions: { read: true },
  params: PLACE,
  run: (place, context) => {
    const { node } = open(place, context);
    if (node === undefined) return false;
    return new Map([...node.attributes].map(([name, { value }]): [Value, Value] => [name, value]));
  },
});

export const set_attribute: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set an attribute of the first element that a path selects. Return False if there is none.",
    `xml.set_attribute /tmp/test.xml ".//element[@id='3']" editedby "gal"`,
  ),
  permissions: "all",
  params: { ...PLACE, key: p.str(), value: p.any() },
  run: ({ key, value, ...place }, context) => {
    const { document, encoding, node } = open(place, context);
    return node !== undefined && save(place.file, document.withAttribute(node, key, str(value)), encoding);
  },
});
