/**
 * Python's `difflib.unified_diff`, line by line as Python makes it: Salt shows these diffs, and operators compare them.
 * Source: docs.python.org, "difflib" (SequenceMatcher with its heuristic for frequent lines); Ratcliff and
 * Obershelp 1988.
 * @module
 */

import { countStep } from "#lib/values/stop_word.ts";

/** A run of equal lines: where it begins in both texts, and how long it is. */
interface Block {
  readonly a: number;
  readonly b: number;
  readonly size: number;
}

type Tag = "equal" | "replace" | "delete" | "insert";

/** A change: the lines from `a1` to `a2` are replaced by those from `b1` to `b2`. */
interface Change {
  readonly tag: Tag;
  readonly a1: number;
  readonly a2: number;
  readonly b1: number;
  readonly b2: number;
}

/** In texts of at least this number of lines, a line that makes up more than 1 % counts as frequent. */
const FREQUENT_FROM = 200;

/** The places of each line of `b` that is not frequent. */
function placesOf(b: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  b.forEach((line, i) => {
    const numbers = places.get(line);
    if (numbers === undefined) places.set(line, [i]);
    else numbers.push(i);
  });
  if (b.length >= FREQUENT_FROM) {
    const max = Math.floor(b.length / 100) + 1;
    for (const [line, at] of places) if (at.length > max) places.delete(line);
  }
  return places;
}

interface Range {
  readonly a1: number;
  readonly a2: number;
  readonly b1: number;
  readonly b2: number;
}

function longestBlock(
  a: readonly string[],
  b: readonly string[],
  { range, places }: { readonly range: Range; readonly places: ReadonlyMap<string, readonly number[]> },
): Block {
  const { a1, a2, b1, b2 } = range;
  let best: Block = { a: a1, b: b1, size: 0 };
  // How long the run is that ends at each line of b, and at the line of a before this one.
  let before = new Map<number, number>();
  for (let i = a1; i < a2; i++) {
    countStep();
    const now = new Map<number, number>();
    for (const j of places.get(a[i]) ?? []) {
      if (j < b1) continue;
      if (j >= b2) break;
      const size = (before.get(j - 1) ?? 0) + 1;
      now.set(j, size);
      if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
    }
    before = now;
  }
  let { a: i, b: j, size } = best;
  // Frequent lines on both sides belong to it as well.
  while (i > a1 && j > b1 && a[i - 1] === b[j - 1]) [i, j, size] = [i - 1, j - 1, size + 1];
  while (i + size < a2 && j + size < b2 && a[i + size] === b[j + size]) size++;
  return { a: i, b: j, size };
}

function equalBlocks(a: readonly string[], b: readonly string[]): Block[] {
  const places = placesOf(b);
  const open: Range[] = [{ a1: 0, a2: a.length, b1: 0, b2: b.length }];
  const blocks: Block[] = [];
  for (let range = open.pop(); range !== undefined; range = open.pop()) {
    const block = longestBlock(a, b, { range, places });
    if (block.size === 0) continue;
    blocks.push(block);
    const { a1, a2, b1, b2 } = range;
    if (a1 < block.a && b1 < block.b) open.push({ a1, a2: block.a, b1, b2: block.b });
    if (block.a + block.size < a2 && block.b + block.size < b2) {
      open.push({ a1: block.a + block.size, a2, b1: block.b + block.size, b2 });
    }
  }
  blocks.sort((one, other) => one.a - other.a || one.b - other.b);
  return [...blocks, { a: a.length, b: b.length, size: 0 }];
}

function changes(a: readonly string[], b: readonly string[]): Change[] {
  const changes: Change[] = [];
  let i = 0, j = 0;
  for (const block of equalBlocks(a, b)) {
    const tag = i < block.a && j < block.b ? "replace" : i < block.a ? "delete" : j < block.b ? "insert" : undefined;
    if (tag !== undefined) changes.push({ tag, a1: i, a2: block.a, b1: j, b2: block.b });
    [i, j] = [block.a + block.size, block.b + block.size];
    if (block.size > 0) changes.push({ tag: "equal", a1: block.a, a2: i, b1: block.b, b2: j });
  }
  return changes;
}

/** Equal lines shown around each change, unless the caller says otherwise. */
const CONTEXT = 3;

/** The changes in groups that have at most twice the context between them. */
function groupChanges(all: readonly Change[], context: number): Change[][] {
  const codes = [...all];
  const first = codes.at(0), last = codes.at(-1);
  if (first?.tag === "equal") {
    codes[0] = { ...first, a1: Math.max(first.a1, first.a2 - context), b1: Math.max(first.b1, first.b2 - context) };
  }
  if (last?.tag === "equal") {
    const trimmed = codes[codes.length - 1];
    codes[codes.length - 1] = {
      ...trimmed,
      a2: Math.min(trimmed.a2, trimmed.a1 + context),
      b2: Math.min(trimmed.b2, trimmed.b1 + context),
    };
  }
  const groups: Change[][] = [];
  let group: Change[] = [];
  for (const change of codes) {
    let { a1, b1 } = change;
    const { tag, a2, b2 } = change;
    if (tag === "equal" && a2 - a1 > 2 * context) {
      group.push({ tag, a1, a2: Math.min(a2, a1 + context), b1, b2: Math.min(b2, b1 + context) });
      groups.push(group);
      group = [];
      [a1, b1] = [Math.max(a1, a2 - context), Math.max(b1, b2 - context)];
    }
    group.push({ tag, a1, a2, b1, b2 });
  }
  if (group.length > 0 && !(group.length === 1 && group[0].tag === "equal")) groups.push(group);
  return groups;
}

/** A range of lines as a diff's head shows it. */
function formatRange(start: number, stop: number): string {
  const length = stop - start;
  if (length === 1) return String(start + 1);
  return `${length === 0 ? start : start + 1},${length}`;
}

/**
 * The lines of the diff of `a` and `b`, whose lines have their ends; none if they are equal.
 * @param names The files' names, for the head. Default: empty, as Salt leaves them mostly. `context`: how many equal
 * lines are shown around each change. `end`: the line end of the diff's own lines. Default: a newline.
 */
export function unifiedDiff(
  a: readonly string[],
  b: readonly string[],
  names: { readonly from: string; readonly to: string; readonly context?: number; readonly end?: string } = {
    from: "",
    to: "",
  },
): string[] {
  const lines: string[] = [];
  const { end = "\n" } = names;
  for (const group of groupChanges(changes(a, b), names.context ?? CONTEXT)) {
    if (lines.length === 0) lines.push(`--- ${names.from}${end}`, `+++ ${names.to}${end}`);
    const first = group[0], last = group[group.length - 1];
    lines.push(`@@ -${formatRange(first.a1, last.a2)} +${formatRange(first.b1, last.b2)} @@${end}`);
    for (const { tag, a1, a2, b1, b2 } of group) {
      if (tag === "equal") {
        lines.push(...a.slice(a1, a2).map((line) => ` ${line}`));
        continue;
      }
      if (tag !== "insert") lines.push(...a.slice(a1, a2).map((line) => `-${line}`));
      if (tag !== "delete") lines.push(...b.slice(b1, b2).map((line) => `+${line}`));
    }
  }
  return lines;
}
