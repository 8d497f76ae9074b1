/**
 * Salt's messages for errors in a YAML text: libyaml's problem, and the collection or token that it names as context.
 * Source: libyaml 0.2.5's and PyYAML 6.0.3's messages (behaviour, tests/corpus/yaml_errors.json); Salt 3008.3,
 * `salt/renderers/yaml.py`.
 * @module
 */

import type { YamlError } from "#lib/errors.ts";
import { lastScalarStart, openCollections } from "#lib/yaml/open_collections.ts";

/** A line and a column, from 1. */
interface Mark {
  readonly line: number;
  readonly column: number;
}

/** libyaml's message. */
interface Words {
  readonly problem: string;
  /** The place. Default: where our parser stopped. */
  readonly at?: Mark;
  readonly context?: string;
  readonly contextAt?: Mark;
  /** Whether the error is in the lexer. Then a renderer gives only the problem. */
  readonly scanner?: boolean;
}

/** libyaml's messages for invalid tokens, by the beginning of our parser's message. */
const SCANNER: readonly (readonly [beginning: string, problem: string, context?: string])[] = [
  ["tab characters", "found character that cannot start any token", "while scanning for the next token"],
  ["a tab cannot indent", "found character that cannot start any token", "while scanning for the next token"],
  ["unknown escape", "found unknown escape character", "while parsing a quoted scalar"],
  ["expected hexadecimal", "did not find expected hexdecimal number", "while parsing a quoted scalar"],
  ["name of an alias", "did not find expected alphabetic or numeric character", "while scanning an alias"],
  ["a line break is expected", "did not find expected comment or line break", "while scanning a block scalar"],
  ["can not read a block mapping entry; a multiline key", "could not find expected ':'", "while scanning a simple key"],
];

/** The problem as in PyYAML's errors, with its places. */
export function yamlText(error: YamlError, text: string): string {
  if (error.salt !== undefined) return error.salt;
  const words = wordsOf(error, text);
  return words === undefined ? `${error.problem}\n${formatMark(error)}` : formatError(words, error);
}

/** The message of a renderer. If Salt's message is not known, it is our parser's. */
export function yamlRenderText(error: YamlError, text: string): string {
  if (error.salt !== undefined) return error.salt;
  const words = wordsOf(error, text);
  if (words === undefined) return `${error.problem}; line ${error.line}`;
  return words.scanner ? `${words.problem}; line ${error.line}` : formatError(words, error);
}

/** The message of the renderer `yamlex`; it has no details for errors in the lexer. */
export function yamlexText(error: YamlError, text: string): string {
  return error.salt === undefined && wordsOf(error, text)?.scanner
    ? "Unknown yaml render error"
    : yamlText(error, text);
}

/** PyYAML leaves out the place of the context if it is the same as that of the problem. */
function formatError({ problem, at, context, contextAt }: Words, error: YamlError): string {
  const place = at ?? error;
  const same = contextAt?.line === place.line && contextAt.column === place.column;
  return [
    ...context === undefined ? [] : [context],
    ...contextAt === undefined || same ? [] : [formatMark(contextAt)],
    problem,
    formatMark(place),
  ].join("\n");
}

function formatMark({ line, column }: Mark): string {
  return `  in "<unicode string>", line ${line}, column ${column}`;
}

function wordsOf(error: YamlError, text: string): Words | undefined {
  const { problem } = error;
  if (problem.startsWith("nothing has the anchor")) return { problem: "found undefined alias" };
  if (problem.startsWith("a second document")) {
    const first = /^(?:\s*(?:[#%][^\n]*\n|---(?=\s)))*\s*/.exec(text)?.[0].length ?? 0;
    const context = "expected a single document in the stream";
    return { context, contextAt: markOf(first, text), problem: "but found another document" };
  }
  const words = SCANNER.find(([beginning]) => problem.startsWith(beginning));
  const offset = offsetOf(error, text);
  if (words !== undefined) {
    return { ...tokenMarks(error, text, offset, words[2]), problem: words[1], context: words[2] };
  }
  if (problem.startsWith("missed comma")) return flowWords(text, offset);
  if (problem.startsWith("unexpected end of the stream within a flow")) return atEnd(text);
  if (problem.startsWith("expected the node content")) return noContent("flow");
  if (problem.startsWith("unexpected end of the stream")) {
    const context = "while scanning a quoted scalar";
    return { ...tokenMarks(error, text, offset, context), problem: "found unexpected end of stream", context };
  }
  if (/^(bad indentation|end of the stream|duplication of an anchor|expected ':' after a mapping key)/.test(problem)) {
    return blockWords(text, offset);
  }
  return undefined;
}

/** The start of an invalid token, and the place of the error. */
function tokenMarks(
  error: YamlError,
  text: string,
  offset: number,
  context = "",
): Pick<Words, "at" | "contextAt" | "scanner"> {
  const before = { line: error.line, column: error.column - 1 };
  if (context.endsWith("an alias")) return { contextAt: before, scanner: true };
  if (context.endsWith("a simple key")) {
    const head = text.slice(0, offset).trimEnd();
    return { contextAt: markOf(head.lastIndexOf("\n") + 1, text), scanner: true };
  }
  if (!context.endsWith("scalar")) return { scanner: true };
  const contextAt = markOf(lastScalarStart(text, offset), text);
  // The reader stops behind the backslash.
  return { contextAt, scanner: true, ...context.startsWith("while parsing") && { at: before } };
}

function noContent(kind: "flow" | "block", at?: Mark): Words {
  const problem = "did not find expected node content";
  return { context: `while parsing a ${kind} node`, problem, ...at !== undefined && { at } };
}

function flowWords(text: string, offset: number): Words | undefined {
  const open = openCollections(text, offset).at(-1);
  if (open === undefined || !open.kind.startsWith("flow")) return undefined;
  const close = open.kind === "flow mapping" ? "}" : "]";
  // A word that ends in a colon was begun on an earlier line: libyaml stops at the colon.
  const word = /^[^\s:,[\]{}'"]+(?=:\s)/.exec(text.slice(offset))?.[0] ?? "";
  if (/[[{,]\s*$/.test(text.slice(0, offset))) return noContent("flow");
  return {
    context: `while parsing a ${open.kind}`,
    contextAt: markOf(open.start, text),
    problem: `did not find expected ',' or '${close}'`,
    at: markOf(offset + word.length, text),
  };
}

/** The text ends within brackets. */
function atEnd(text: string): Words | undefined {
  const words = flowWords(text, text.length);
  const last = text.length - (text.lastIndexOf("\n") + 1);
  const lines = text.split("\n").length;
  return words && { ...words, at: { line: lines + (last > 0 ? 1 : 0), column: 1 } };
}

function blockWords(text: string, offset: number): Words | undefined {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const before = text.slice(lineStart, offset), rest = text.slice(offset);
  const begins = before.trim() === "";
  if (/^[\t%@`]/.test(rest)) {
    const problem = "found character that cannot start any token";
    return { problem, context: "while scanning for the next token", scanner: true };
  }
  const afterQuotes = /["'\]}]\s*$/.test(before);
  if (/^:(\s|$)/.test(rest)) return { problem: "mapping values are not allowed in this context", scanner: true };
  if (!begins && /^-(\s|$)/.test(rest)) {
    return { problem: "block sequence entries are not allowed in this context", scanner: true };
  }
  if (!begins && !afterQuotes && /^[,\]}]/.test(rest)) return noContent("block");
  const open = openCollections(text, offset).at(-1);
  // The one value has ended: a further one would be another document.
  if (open === undefined) return { problem: "did not find expected <document start>" };
  if (open.kind.startsWith("flow")) return undefined;
  const sequence = open.kind === "block sequence";
  return {
    context: `while parsing a block ${sequence ? "collection" : "mapping"}`,
    contextAt: markOf(open.start, text),
    problem: sequence ? "did not find expected '-' indicator" : "did not find expected key",
  };
}

function offsetOf({ line, column }: Mark, text: string): number {
  const breaks = [...text.matchAll(/\r\n?|\n/g)].slice(0, line - 1);
  const last = breaks.at(-1);
  const start = last === undefined ? 0 : last.index + last[0].length;
  // Columns count characters, offsets code units.
  return start + [...text.slice(start, start + 2 * column)].slice(0, column - 1).join("").length;
}

function markOf(offset: number, text: string): Mark {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length, column: [...lines[lines.length - 1]].length + 1 };
}
