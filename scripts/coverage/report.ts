/**
 * Reports which lines of sources ran: a table by room, and a list of the lines that did not run.
 * @module
 */

import type { Source } from "#scripts/structure.ts";
import type { CoverageRule } from "#scripts/coverage/rules/rule.ts";

/** How often each line ran, by path and line number. Lines without code are not in it. */
export type LineCounts = Map<string, Map<number, number>>;

/** Consecutive lines that did not run. */
interface Gap {
  readonly path: string;
  /** The numbers of its lines with code. */
  readonly lines: readonly number[];
  /** The first of them that is more than brackets. */
  readonly text: string;
}

/** Adds the output of `deno coverage --lcov` for the tree at `root` to `counts`. */
export function addLcov(counts: LineCounts, lcov: string, root: string): void {
  let lines = new Map<number, number>();
  for (const text of lcov.split("\n")) {
    const file = /^SF:(?:file:\/\/)?(.*)$/.exec(text)?.[1];
    if (file !== undefined) {
      const path = file.startsWith(`${root}/`) ? file.slice(root.length + 1) : file;
      lines = counts.get(path) ?? new Map();
      counts.set(path, lines);
    }
    const [, line, count] = /^DA:(\d+),(\d+)/.exec(text) ?? [];
    if (line !== undefined) lines.set(Number(line), (lines.get(Number(line)) ?? 0) + Number(count));
  }
}

/** `counts` in the format that {@linkcode addLcov} reads. */
export function toLcov(counts: LineCounts): string {
  return [...counts].sort(([a], [b]) => a < b ? -1 : 1).map(([path, lines]) => {
    const rows = [...lines].sort(([a], [b]) => a - b).map(([line, count]) => `DA:${line},${count}\n`);
    return `SF:${path}\n${rows.join("")}end_of_record\n`;
  }).join("");
}

/** The table, and the lines that no test reached. Those that match one of `rules` come last, with their reasons. */
export function coverageReport(
  { sources, counts, rules }: {
    readonly sources: readonly Source[];
    readonly counts: LineCounts;
    readonly rules: readonly CoverageRule[];
  },
): string {
  const rooms = new Map<string, { lines: number; reached: number; named: number }>();
  const open: Gap[] = [];
  const used = new Map<CoverageRule, Gap[]>();
  for (const source of sources) {
    const code = codeLines(source, counts.get(source.path));
    const gaps = gapsOf(source, code);
    const room = source.path.includes("/") ? source.path.slice(0, source.path.lastIndexOf("/")) : "entries";
    const sum = rooms.get(room) ?? { lines: 0, reached: 0, named: 0 };
    rooms.set(room, sum);
    sum.lines += code.size;
    sum.reached += [...code.values()].filter((count) => count > 0).length;
    for (let gap = gaps.shift(); gap !== undefined; gap = gaps.shift()) {
      const { path, text } = gap;
      const rule = rules.find((rule) => isBelow(path, rule.path) && rule.line.test(text));
      if (rule === undefined) {
        open.push(gap);
        continue;
      }
      const [named, rest] = rule.path === undefined ? firstStatement(gap, source) : [gap];
      used.set(rule, [...used.get(rule) ?? [], named]);
      sum.named += named.lines.length;
      if (rest !== undefined) gaps.unshift(rest);
    }
  }
  const unused = rules.filter((rule) => !used.has(rule));
  return [
    row("room", "lines", "reached", "named", "open", "%"),
    ...[...rooms].sort(([a], [b]) => a < b ? -1 : 1).map(([room, sum]) => roomRow(room, sum)),
    roomRow("all", total([...rooms.values()])),
    "",
    `Lines that nothing reaches (${open.length} places):`,
    ...open.map((gap) => `${place(gap)}: ${gap.text}`),
    "",
    "Named by a rule (scripts/coverage/rules/):",
    ...[...used].flatMap(([{ why }, gaps]) => gaps.map((gap) => `${place(gap)}: ${why}`)),
    ...unused.map(({ path, line }) =>
      `${path ?? "every file"}: a rule for ${line}, which every test run reaches or which is gone`
    ),
    "",
  ].join("\n");
}

/** A line where code begins that runs: no import, no type, no empty line, no comment. */
const CODE = /^(?!import |(export )?(type|interface) |[\s})\]>/*])./m;

/**
 * How often each line of code ran. In a file that no test loaded, every line counts that is not empty, a comment or an
 * import; in a file of types, no line counts.
 */
function codeLines({ text }: Source, counted: ReadonlyMap<number, number> | undefined): ReadonlyMap<number, number> {
  if (counted === undefined && !CODE.test(text)) return new Map();
  return new Map(
    text.split("\n").flatMap((line, i): [number, number][] => {
      const count = counted === undefined ? 0 : counted.get(i + 1);
      return count === undefined || /^\s*($|\/\/|\/\*|\*)|^import /.test(line) ? [] : [[i + 1, count]];
    }),
  );
}

function gapsOf({ path, text }: Source, code: ReadonlyMap<number, number>): Gap[] {
  const lines = text.split("\n");
  const groups: number[][] = [];
  let open = false;
  for (const [line, count] of code) {
    if (count === 0 && open) groups.at(-1)?.push(line);
    else if (count === 0) groups.push([line]);
    open = count === 0;
  }
  return groups.map((group) => gapOf(path, lines, group)).filter((gap) => gap !== undefined);
}

/** The gap of these lines; `undefined`: lines of brackets only are the end of a block that was left before. */
function gapOf(path: string, texts: readonly string[], lines: readonly number[]): Gap | undefined {
  const begin = lines.findIndex((line) => /[\w"'`]/.test(texts[line - 1]));
  return begin < 0 ? undefined : { path, lines, text: texts[lines[begin] - 1].trim() };
}

/** A gap that begins with a statement of one line: that line, and what comes after it. */
function firstStatement(gap: Gap, { text }: Source): [Gap, Gap?] {
  if (!gap.text.endsWith(";")) return [gap];
  const rest = gapOf(gap.path, text.split("\n"), gap.lines.slice(1));
  return rest === undefined ? [gap] : [{ ...gap, lines: gap.lines.slice(0, 1) }, rest];
}

interface Sum {
  readonly lines: number;
  readonly reached: number;
  readonly named: number;
}

function total(sums: readonly Sum[]): Sum {
  const of = (field: keyof Sum) => sums.reduce((all, sum) => all + sum[field], 0);
  return { lines: of("lines"), reached: of("reached"), named: of("named") };
}

function roomRow(room: string, { lines, reached, named }: Sum): string {
  const percent = lines === 0 ? 100 : 100 * reached / lines;
  return row(room, `${lines}`, `${reached}`, `${named}`, `${lines - reached - named}`, percent.toFixed(1));
}

function row(room: string, ...cells: readonly string[]): string {
  return room.padEnd(20) + cells.map((cell) => cell.padStart(9)).join("");
}

function isBelow(path: string, rule: string | undefined): boolean {
  return rule === undefined || rule === path || (rule.endsWith("/") && path.startsWith(rule));
}

function place({ path, lines }: Gap): string {
  const [first, last] = [lines[0], lines[lines.length - 1]];
  return first === last ? `${path}:${first}` : `${path}:${first}-${last}`;
}
