/**
 * Paths of elements, as Python's ElementTree has them: a part of XPath.
 * Source: Python 3.11, `xml/etree/ElementPath.py`; docs.python.org "Supported XPath syntax".
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { XmlNode } from "./xml_document.ts";

/** A sign, or a name; one of both is empty. Both are for white space. */
interface Token {
  readonly sign: string;
  readonly name: string;
}

type Step = (nodes: Iterable<XmlNode>, root: XmlNode) => Iterable<XmlNode>;

const TOKENS = /('[^']*'|"[^"]*"|::|\/\/?|\.\.|\(\)|!=|[/.*:[\]()@=])|((?:\{[^}]+\})?[^/[\]()@!=\s]+)|\s+/g;

/**
 * The first element of a document that a path selects; `undefined`: none.
 * @param root The document's root, where the path begins.
 * @throws {CommandError} With Python's reason if it is no path.
 */
export function findFirst(root: XmlNode, path: string): XmlNode | undefined {
  for (const node of select([root], path.startsWith("/") ? `.${path}` : path, root)) return node;
  return undefined;
}

function select(from: readonly XmlNode[], path: string, root: XmlNode): Iterable<XmlNode> {
  if (path === "") return [];
  // Without a sign a path is a name, whatever is in it.
  if (!/[/*[@.]/.test(path.replace(/^\{[^}]*\}/, ""))) return children(from, path);
  const tokens = new Tokens(path.endsWith("/") ? `${path}*` : path);
  let nodes: Iterable<XmlNode> = from;
  for (const step of tokens.steps()) nodes = step(nodes, root);
  return nodes;
}

function fail(reason: string): never {
  throw new CommandError(reason);
}

/** The tokens of a path, and the steps that they are. */
class Tokens {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(path: string) {
    this.#tokens = [...path.matchAll(TOKENS)].map(([, sign = "", name = ""]) => ({ sign, name: checkedTag(name) }));
  }

  steps(): Step[] {
    const steps: Step[] = [];
    let token = this.#next();
    while (token !== undefined) {
      steps.push(this.#step(token));
      token = this.#next();
      // A slash alone at the end ends the path.
      if (token?.sign === "/") token = this.#next();
    }
    return steps;
  }

  #next(): Token | undefined {
    return this.#tokens[this.#at++];
  }

  #step({ sign, name }: Token): Step {
    if (sign === "") return (nodes) => children(nodes, name);
    if (sign === "*") return (nodes) => children(nodes, "*");
    if (sign === ".") return (nodes) => nodes;
    if (sign === "..") return parents;
    if (sign === "[") return this.#predicate();
    if (sign !== "//") fail(`${sign} cannot be there in a path`);
    const next = this.#next();
    if (next === undefined || !(next.sign === "*" || next.sign === "")) fail("invalid descendant");
    return (nodes) => descendants(nodes, next.sign === "*" ? "*" : next.name);
  }

  #predicate(): Step {
    const words: string[] = [];
    let signature = "";
    for (;;) {
      const token = this.#next();
      if (token === undefined) fail("invalid path");
      if (token.sign === "]") return predicate(signature, words);
      if (token.sign === "" && token.name === "") continue;
      const quoted = /^['"]/.test(token.sign);
      signature += quoted ? "'" : token.sign || "-";
      words.push(quoted ? token.sign.slice(1, -1) : token.name);
    }
  }
}

/** The name of a path; without its namespace a prefix has no meaning. */
function checkedTag(name: string): string {
  const prefix = /^([^{}:]*):/.exec(name)?.[1];
  if (prefix !== undefined) fail(`prefix '${prefix}' not found in prefix map`);
  return name;
}

const isNumber = (word: string): boolean => /^-?\d+$/.test(word);

function predicate(signature: string, words: readonly string[]): Step {
  const [first = "", , third = ""] = words;
  if (signature === "@-") return filtering((node) => node.attributes.has(words[1]));
  if (signature === "@-='") return filtering((node) => node.attributes.get(words[1])?.value === words[3]);
  if (signature === "@-!='") {
    return filtering((node) => {
      const value = node.attributes.get(words[1])?.value;
      return value !== undefined && value !== words[3];
    });
  }
  if (signature === "-" && !isNumber(first)) return filtering((node) => hasChild(node, first, () => true));
  if (/^(?:\.|-)!?='$/.test(signature) && !isNumber(first)) {
    const wanted = third;
    const fits = signature.includes("!")
      ? (node: XmlNode) => node.allText() !== wanted
      : (node: XmlNode) => node.allText() === wanted;
    return filtering(signature.startsWith(".") ? fits : (node) => hasChild(node, first, fits));
  }
  if (signature === "-") return atPosition(positionOf(Number(first)));
  if (signature === "-()" || signature === "-()-") {
    if (first !== "last") fail("unsupported function");
    return atPosition(signature === "-()" ? -1 : lastPosition(third));
  }
  return fail("invalid predicate");
}

function positionOf(number: number): number {
  return number >= 1 ? number - 1 : fail("XPath position >= 1 expected");
}

function lastPosition(word: string): number {
  if (!/^[+-]?\d+$/.test(word)) fail("unsupported expression");
  const index = Number(word) - 1;
  return index <= -2 ? index : fail("XPath offset from last() must be negative");
}

/** Those that are at a place among the elements of their name; from the end if it is negative. */
function atPosition(index: number): Step {
  return filtering((node, root) => {
    if (node === root || node.parent === undefined) return false;
    return node.parent.children.filter((one) => one.tag === node.tag).at(index) === node;
  });
}

function filtering(fits: (node: XmlNode, root: XmlNode) => boolean): Step {
  return function* (nodes, root) {
    for (const node of nodes) if (fits(node, root)) yield node;
  };
}

function hasChild(node: XmlNode, tag: string, fits: (node: XmlNode) => boolean): boolean {
  return node.children.some((child) => isNamed(child, tag) && fits(child));
}

/** Whether an element has a name; `{*}name` is one in any namespace, `{namespace}*` any in it. */
function isNamed({ tag }: XmlNode, name: string): boolean {
  if (name === "*" || name === "{*}*") return true;
  if (name.startsWith("{*}")) return tag.replace(/^\{[^}]*\}/, "") === name.slice(3);
  if (name.startsWith("{}")) return tag === name.slice(2) || (name === "{}*" && !tag.startsWith("{"));
  return name.endsWith("}*") ? tag.startsWith(name.slice(0, -1)) : tag === name;
}

function* children(nodes: Iterable<XmlNode>, tag: string): Generator<XmlNode, void> {
  for (const node of nodes) for (const child of node.children) if (isNamed(child, tag)) yield child;
}

function* parents(nodes: Iterable<XmlNode>, root: XmlNode): Generator<XmlNode, void> {
  const seen = new Set<XmlNode>();
  for (const node of nodes) {
    if (node === root || node.parent === undefined || seen.has(node.parent)) continue;
    seen.add(node.parent);
    yield node.parent;
  }
}

function* descendants(nodes: Iterable<XmlNode>, tag: string): Generator<XmlNode, void> {
  for (const node of nodes) {
    const walk = [node.children.values()];
    while (walk.length > 0) {
      const next = walk[walk.length - 1].next();
      if (next.done) walk.pop();
      else {
        if (isNamed(next.value, tag)) yield next.value;
        walk.push(next.value.children.values());
      }
    }
  }
}
