/**
 * XML documents that are changed in place: what an edit does not concern stays as it is written, comments, declarations
 * and prefixes of namespaces among it. Elements are named as Python's ElementTree names them, `{namespace}name`.
 * Document types are skipped, so there are no entities of a document and no external files.
 * Source: www.w3.org/TR/xml, www.w3.org/TR/xml-names; Python 3.11, `xml/etree/ElementTree.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { codePointAt } from "./xml_scanner.ts";
import { XmlScanner, type XmlTag } from "./xml_scanner.ts";

/** A part of the text: from `start` up to `end`, without it. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** An attribute: its name as it is written, and where its value is, quotes included. */
export interface XmlAttribute {
  readonly written: string;
  readonly value: string;
  readonly range: TextRange;
}

/** An element of a document. */
export class XmlNode {
  readonly children: XmlNode[] = [];
  /** The text before the first child; `null`: there is none. */
  text: string | null = null;
  /** The text behind the element, before the next one. */
  tail = "";
  /** Where the text before the first child is; comments are between the parts. */
  readonly textParts: TextRange[] = [];

  constructor(
    /** `{namespace}name`, or the name alone. */
    readonly tag: string,
    /** Its attributes by their names, `{namespace}name` or the name alone. */
    readonly attributes: ReadonlyMap<string, XmlAttribute>,
    /** Its start tag. */
    readonly start: TextRange,
    /** Whether the start tag is all of it: `<a/>`. */
    readonly isEmpty: boolean,
    readonly parent: XmlNode | undefined,
    /** The name as it is written. */
    readonly written: string,
    /** The namespaces in force, by prefix. */
    readonly namespaces: ReadonlyMap<string, string>,
  ) {}

  /** All text in it, that of the elements in it included. */
  allText(): string {
    const texts: string[] = [this.text ?? ""];
    const walk = [this.children.values()];
    const open: XmlNode[] = [];
    while (walk.length > 0) {
      const next = walk[walk.length - 1].next();
      if (next.done) {
        walk.pop();
        texts.push(open.pop()?.tail ?? "");
        continue;
      }
      texts.push(next.value.text ?? "");
      open.push(next.value);
      walk.push(next.value.children.values());
    }
    return texts.join("");
  }
}

/** A document that was read. */
export class XmlDocument {
  private constructor(readonly source: string, readonly root: XmlNode) {}

  /** @throws {CommandError} If it is none, with Python's words: `mismatched tag: line 1, column 4`. */
  static parse(source: string): XmlDocument {
    return new XmlDocument(source, new Reader(source).read());
  }

  /** The document's text with another text before the first child of an element. */
  withText(node: XmlNode, value: string): string {
    const text = escapeXml(value, this.source);
    const { source } = this;
    if (node.isEmpty) {
      const tag = source.slice(node.start.start, node.start.end).replace(/(?<!\s)\s*\/>$/, "");
      return this.#replaced([{ ...node.start, by: `${tag}>${text}</${node.written}>` }]);
    }
    if (node.textParts.length === 0) return this.#replaced([{ start: node.start.end, end: node.start.end, by: text }]);
    return this.#replaced(node.textParts.map((part, i) => ({ ...part, by: i === 0 ? text : "" })));
  }

  /**
   * The document's text with another value of an attribute of an element.
   * @throws {CommandError} If the name is none, or of a namespace without a prefix there.
   */
  withAttribute(node: XmlNode, key: string, value: string): string {
    const quoted = `"${
      escapeXml(value, this.source).replace(/["\t\n\r]/g, (one) =>
        one === '"' ? "&quot;" : `&#${`${codePointAt(one)}`.padStart(2, "0")};`)
    }"`;
    const old = node.attributes.get(key) ?? [...node.attributes.values()].find(({ written }) => written === key);
    if (old !== undefined) return this.#replaced([{ ...old.range, by: quoted }]);
    const at = node.start.end - (node.isEmpty ? 2 : 1);
    const tag = this.source.slice(node.start.start, at);
    const end = node.start.start + tag.trimEnd().length;
    return this.#replaced([{ start: end, end, by: ` ${writtenName(node, key)}=${quoted}` }]);
  }

  #replaced(edits: readonly (TextRange & { readonly by: string })[]): string {
    let text = "", at = 0;
    for (const { start, end, by } of edits) {
      text += this.source.slice(at, start) + by;
      at = end;
    }
    return text + this.source.slice(at);
  }
}

const NAME = /^[\p{L}_][\p{L}\p{N}_.-]*(?::[\p{L}_][\p{L}\p{N}_.-]*)?$/u;

/** The name of an attribute as the document writes it. */
function writtenName(node: XmlNode, key: string): string {
  const [, namespace, local] = /^\{([^}]*)\}(.*)$/su.exec(key) ?? [];
  if (namespace === undefined) {
    const prefix = key.includes(":") ? key.slice(0, key.indexOf(":")) : undefined;
    if (NAME.test(key) && (prefix === undefined || node.namespaces.has(prefix))) return key;
    throw new CommandError(`${JSON.stringify(key)} is not the name of an attribute`);
  }
  const prefix = [...node.namespaces].find(([name, uri]) => name !== "" && uri === namespace)?.[0];
  if (prefix === undefined || !NAME.test(local)) {
    throw new CommandError(`${JSON.stringify(key)} is of a namespace that has no prefix there`);
  }
  return `${prefix}:${local}`;
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** @throws {CommandError} If a character cannot be in a document. */
function escapeXml(text: string, source: string): string {
  // deno-lint-ignore no-control-regex
  const unfit = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Cs}/u.exec(text);
  if (unfit !== null) {
    throw new CommandError(`The character U+${codePointAt(unfit[0]).toString(16).padStart(4, "0")} cannot be in XML`);
  }
  const escaped = text.replace(/[&<>]/g, (one) => ESCAPES[one]);
  // A text file with lines of Windows keeps them.
  return source.includes("\r\n") ? escaped.replace(/\r?\n/g, "\r\n") : escaped;
}

const XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace";

/** Reads a document. */
class Reader {
  readonly #scanner: XmlScanner;
  #root: XmlNode | undefined;
  readonly #open: XmlNode[] = [];
  /** The element whose end was the last tag. */
  #closed: XmlNode | undefined;

  constructor(source: string) {
    this.#scanner = new XmlScanner(source);
  }

  read(): XmlNode {
    const scanner = this.#scanner;
    for (const token of scanner.tokens()) {
      if (token.kind === "start") this.#start(token);
      else if (token.kind === "end") this.#end(token.name, token.start);
      else if (token.kind === "text") this.#text(token);
    }
    if (this.#root === undefined) throw scanner.error("no element found", scanner.length);
    if (this.#open.length > 0) throw scanner.error("no element found", scanner.length);
    return this.#root;
  }

  #start(token: XmlTag): void {
    const parent = this.#open.at(-1);
    if (parent === undefined && this.#root !== undefined) {
      throw this.#scanner.error("junk after document element", token.start);
    }
    const outer = parent?.namespaces ?? new Map([["xml", XML_NAMESPACE]]);
    const declared = token.attributes.filter(({ written }) => /^xmlns(:|$)/.test(written));
    const namespaces = declared.length === 0
      ? outer
      : new Map([...outer, ...declared.map(({ written, value }) => [written.slice(6), value] as const)]);
    const attributes = new Map<string, XmlAttribute>();
    for (const attribute of token.attributes) {
      if (declared.includes(attribute)) continue;
      const name = this.#resolved(attribute.written, namespaces, token.start, false);
      if (attributes.has(name)) throw this.#scanner.error("duplicate attribute", token.start);
      attributes.set(name, attribute);
    }
    const tag = this.#resolved(token.name, namespaces, token.start, true);
    const node = new XmlNode(tag, attributes, token, token.isEmpty, parent, token.name, namespaces);
    this.#root ??= node;
    parent?.children.push(node);
    if (token.isEmpty) this.#closed = node;
    else {
      this.#open.push(node);
      this.#closed = undefined;
    }
  }

  #resolved(name: string, namespaces: ReadonlyMap<string, string>, at: number, isElement: boolean): string {
    const colon = name.indexOf(":");
    if (colon < 0 && !isElement) return name;
    const uri = namespaces.get(colon < 0 ? "" : name.slice(0, colon));
    if (uri === undefined && colon >= 0) throw this.#scanner.error("unbound prefix", at);
    return uri === undefined || uri === "" ? name : `{${uri}}${name.slice(colon + 1)}`;
  }

  #end(name: string, at: number): void {
    const node = this.#open.pop();
    if (node === undefined) throw this.#scanner.error("not well-formed (invalid token)", at + 1);
    if (node.written !== name) throw this.#scanner.error("mismatched tag", at + 2);
    this.#closed = node;
  }

  #text({ text, start, end }: { readonly text: string } & TextRange): void {
    const within = this.#open.at(-1);
    if (within === undefined) {
      if (/^[ \t\r\n]*$/.test(text)) return;
      const at = start + text.search(/[^ \t\r\n]/);
      throw this.#scanner.error(this.#root === undefined ? "syntax error" : "junk after document element", at);
    }
    if (this.#closed !== undefined) this.#closed.tail += text;
    else {
      within.text = (within.text ?? "") + text;
      within.textParts.push({ start, end });
    }
  }
}
