/**
 * Runs regular expressions in bounded time, also `(a+)+$`. A step that failed at a position fails there again, so each
 * step is tried once per position: time and memory are at most the product of both lengths. Only back references (`\1`)
 * can need more; for them the number of steps is limited. The bound matters because attackers choose ids, and one slow
 * match would delay all other requests.
 * @module
 */

import { countStep } from "#lib/values/stop_word.ts";
import type { Assertion, CharTest, RegexNode } from "./nodes.ts";

/** Maximum number of steps of an expression beyond its own length, after its repeats are written out. */
const MAX_REPEATED = 5_000;
/** Maximum number of steps for one text: more than any id needs with a reasonable expression. */
const MAX_STEPS = 1_000_000;
/** Up to this size the visited steps are kept as bits; above it in a set, as most will never be visited. */
const MAX_BITS = 2 ** 20;
type Step =
  | { readonly op: "char"; readonly test: CharTest }
  | { readonly op: "place"; readonly holds: Assertion }
  | { readonly op: "either"; first: number; second: number }
  | { readonly op: "jump"; to: number }
  | { readonly op: "save"; readonly slot: number }
  | { readonly op: "same"; readonly group: number; readonly ignoreCase: boolean }
  | { readonly op: "look"; readonly back: number; readonly negated: boolean; then: number }
  | { readonly op: "accept" };

/** Start and end of a match, in code points. */
export interface Span {
  /** The first character. */
  readonly start: number;
  /** After the last character. */
  readonly end: number;
}

/** A match with its groups. */
export interface Capture extends Span {
  /** Start and end of group 1, of group 2 and so on; `undefined` for one that took no part. */
  readonly groups: readonly (Span | undefined)[];
}

/**
 * Maximum number of steps for all matches in one text of the host: a file of megabytes with a reasonable expression.
 */
const MAX_FILE_STEPS = 100_000_000;
/** Up to this size the visited steps in a file are kept as bits: 32 MB. */
const MAX_FILE_BITS = 2 ** 28;

/** The groups, from the places that a run has saved. */
function spansOf(saved: readonly (number | undefined)[], groups: number): (Span | undefined)[] {
  return Array.from({ length: groups }, (_, i): Span | undefined => {
    const [from, to] = [saved[2 * i + 2], saved[2 * i + 3]];
    return from === undefined || to === undefined ? undefined : { start: from, end: to };
  });
}

/** A compiled expression. */
export class RegexProgram {
  readonly #steps: Step[] = [];
  readonly #mostSteps: number;
  #references = false;
  #spent = 0;

  /**
   * Compiles the tree of a pattern.
   * @param patternLength Characters of the pattern.
   * @throws {RangeError} If it has more than {@linkcode MAX_REPEATED} steps beyond the pattern's length.
   */
  constructor(root: RegexNode, patternLength: number) {
    this.#mostSteps = 2 * patternLength + MAX_REPEATED;
    this.#compile(root);
    this.#add({ op: "accept" });
  }

  /**
   * Python's match in `codes`: at the start, or anywhere with `search`.
   * @throws {RangeError} If it takes more than {@linkcode MAX_STEPS}.
   */
  match(codes: readonly number[], options: { search: boolean }): Span | undefined {
    const run = new Run(this.#steps, codes, { references: this.#references });
    try {
      for (let start = 0; start <= (options.search ? codes.length : 0); start++) {
        const end = run.from(0, start);
        if (end !== undefined) return { start, end };
      }
      return undefined;
    } finally {
      this.#spent = run.count;
    }
  }

  /** Number of steps of the last match, whether it was finished or not. */
  get spent(): number {
    return this.#spent;
  }

  /**
   * Python's `finditer` in `codes`, which may be a whole file: matches that do not overlap, with their groups.
   * @param groups Number of the expression's groups.
   * @throws {RangeError} If all of them take more than {@linkcode MAX_FILE_STEPS}.
   */
  *matches(codes: readonly number[], groups: number): Generator<Capture, void> {
    const run = new Run(this.#steps, codes, { references: this.#references, captures: true });
    // After an empty match the next one at the same place has at least a character.
    for (let start = 0, emptyAt = -1; start <= codes.length;) {
      const captures = run.capture(start, emptyAt);
      if (captures === undefined) {
        start++;
        continue;
      }
      yield { start, end: captures.place, groups: spansOf(captures.saved, groups) };
      // Python tries the place of an empty match again; a match must then advance.
      emptyAt = captures.place === start ? start : -1;
      start = captures.place;
    }
  }

  /**
   * Python's match at the start of `codes`, with its groups.
   * @param groups Number of the expression's groups.
   * @throws {RangeError} If it takes more than {@linkcode MAX_FILE_STEPS}.
   */
  capture(codes: readonly number[], groups: number): Capture | undefined {
    const run = new Run(this.#steps, codes, { references: this.#references, captures: true });
    const match = run.capture(0, -1);
    return match && { start: 0, end: match.place, groups: spansOf(match.saved, groups) };
  }

  #add(step: Step): number {
    if (this.#steps.length >= this.#mostSteps) throw new RangeError(`it has more than ${this.#mostSteps} steps`);
    return this.#steps.push(step) - 1;
  }

  #compile(node: RegexNode): void {
    switch (node.kind) {
      case "char":
        this.#add({ op: "char", test: node.test });
        return;
      case "place":
        this.#add({ op: "place", holds: node.holds });
        return;
      case "sequence":
        for (const item of node.items) this.#compile(item);
        return;
      case "either":
        return this.#either(node.options);
      case "repeat":
        return this.#repeat(node);
      case "group":
        this.#add({ op: "save", slot: 2 * node.number });
        this.#compile(node.item);
        this.#add({ op: "save", slot: 2 * node.number + 1 });
        return;
      case "same":
        this.#references = true;
        this.#add({ op: "same", group: node.number, ignoreCase: node.ignoreCase });
        return;
      case "look": {
        const look = { op: "look" as const, back: node.back, negated: node.negated, then: 0 };
        this.#add(look);
        this.#compile(node.item);
        this.#add({ op: "accept" });
        look.then = this.#steps.length;
      }
    }
  }

  #either(options: readonly RegexNode[]): void {
    const jumps: { op: "jump"; to: number }[] = [];
    options.forEach((option, i) => {
      const last = i === options.length - 1;
      const choice = { op: "either" as const, first: 0, second: 0 };
      if (!last) choice.first = this.#add(choice) + 1;
      this.#compile(option);
      if (last) return;
      const jump = { op: "jump" as const, to: 0 };
      this.#add(jump);
      jumps.push(jump);
      choice.second = this.#steps.length;
    });
    for (const jump of jumps) jump.to = this.#steps.length;
  }

  #repeat({ item, min, max, lazy }: RegexNode & { kind: "repeat" }): void {
    for (let i = 0; i < min; i++) {
      const before = this.#steps.length;
      this.#compile(item);
      if (this.#steps.length === before) return; // an empty repetition
    }
    const choices: { first: number; second: number }[] = [];
    const choose = () => {
      const choice = { op: "either" as const, first: 0, second: 0 };
      const at = this.#add(choice);
      choices.push(choice);
      choice[lazy ? "second" : "first"] = at + 1;
      this.#compile(item);
      return at;
    };
    if (max === Infinity) this.#add({ op: "jump", to: choose() });
    else for (let i = min; i < max; i++) choose();
    for (const choice of choices) choice[lazy ? "first" : "second"] = this.#steps.length;
  }
}

/** A step at a position, with the contents of the groups. */
interface Thread {
  readonly at: number;
  readonly place: number;
  readonly saved: readonly number[];
}

const NOTHING: readonly number[] = [];

/** One run of a program on a text. */
class Run {
  readonly #steps: readonly Step[];
  readonly #codes: readonly number[];
  readonly #references: boolean;
  /** Whether the groups are kept: for back references, or on request. */
  readonly #keepsGroups: boolean;
  readonly #maxSteps: number;
  readonly #maxBits: number;
  readonly #seen: Seen;
  /** Cached results of look-arounds, by step and position. */
  #looks: Map<number, boolean> | undefined;
  /** Number of steps so far. */
  count = 0;

  constructor(
    steps: readonly Step[],
    codes: readonly number[],
    { references, captures = false }: { readonly references: boolean; readonly captures?: boolean },
  ) {
    this.#steps = steps;
    this.#codes = codes;
    this.#references = references;
    this.#keepsGroups = references || captures;
    this.#maxSteps = captures ? MAX_FILE_STEPS : MAX_STEPS;
    this.#maxBits = captures ? MAX_FILE_BITS : MAX_BITS;
    this.#seen = this.#unseen();
  }

  #unseen(): Seen {
    if (this.#references) return new SeenWithGroups();
    const places = this.#steps.length * (this.#codes.length + 1);
    return places > this.#maxBits ? new SeenSparse() : new SeenPlaces(places);
  }

  /** The end of the match that begins with step `start` at `place`. Later calls reuse what failed. */
  from(start: number, place: number): number | undefined {
    return this.#run({ at: start, place, saved: NOTHING }, this.#seen)?.place;
  }

  /**
   * The match that begins at `place`, with its groups.
   * @param refusedEnd Where it must not end; -1 for nowhere.
   */
  capture(place: number, refusedEnd: number): Thread | undefined {
    const end = this.#run({ at: 0, place, saved: NOTHING }, this.#seen, refusedEnd);
    // What was visited on the way to a match has not failed.
    if (end !== undefined) this.#seen.clear();
    return end;
  }

  #run(start: Thread, seen: Seen, refusedEnd = -1): Thread | undefined {
    const width = this.#codes.length + 1;
    // A stack of what is still to be tried: steps, positions and, if they matter, groups.
    const steps: number[] = [start.at];
    const places: number[] = [start.place];
    const groups: (readonly number[])[] = [start.saved];
    while (steps.length > 0) {
      let at = steps.pop() ?? 0;
      let place = places.pop() ?? 0;
      let saved = this.#keepsGroups ? groups.pop() ?? NOTHING : NOTHING;
      // Continues while there is only one next step.
      while (true) {
        countStep();
        if (++this.count > this.#maxSteps) throw new RangeError(`it takes more than ${this.#maxSteps} steps`);
        const step: Step = this.#steps[at];
        if (step.op === "accept") {
          if (place === refusedEnd) break;
          return { at, place, saved };
        }
        if (step.op === "either") {
          if (!seen.add(at * width + place, saved)) break;
          steps.push(step.second);
          places.push(place);
          if (this.#keepsGroups) groups.push(saved);
          at = step.first;
        } else if (step.op === "char") {
          if (place === width - 1 || !step.test(this.#codes[place])) break;
          at++;
          place++;
        } else if (step.op === "jump") {
          at = step.to;
        } else if (step.op === "place") {
          if (!step.holds(this.#codes, place)) break;
          at++;
        } else if (step.op === "save") {
          if (this.#keepsGroups) saved = withSaved(saved, step.slot, place);
          at++;
        } else if (step.op === "same") {
          const length = this.#same(step, { at, place, saved });
          if (length === undefined) break;
          place += length;
          at++;
        } else {
          const looked = this.#look(step, { at, place, saved });
          if (looked === undefined) break;
          saved = looked;
          at = step.then;
        }
      }
    }
    return undefined;
  }

  /** Length of the group's text if it occurs here again. */
  #same(step: Step & { op: "same" }, { place, saved }: Thread): number | undefined {
    const start = saved[2 * step.group], end = saved[2 * step.group + 1];
    if (start === undefined || end === undefined || end < start) return undefined;
    const length = end - start;
    if (place + length > this.#codes.length) return undefined;
    this.count += length;
    for (let i = 0; i < length; i++) {
      countStep();
      const a = this.#codes[start + i], b = this.#codes[place + i];
      if (a !== b && !(step.ignoreCase && lower(a) === lower(b))) return undefined;
    }
    return length;
  }

  /** The groups after a look-around that succeeds; `undefined` if it fails. */
  #look(step: Step & { op: "look" }, thread: Thread): readonly number[] | undefined {
    const key = thread.at * (this.#codes.length + 1) + thread.place;
    const answer = this.#keepsGroups ? undefined : this.#looks?.get(key);
    if (answer !== undefined) return answer ? thread.saved : undefined;
    const place = thread.place - step.back;
    // It has its own visited steps: a match inside must not count as a failure for the next look-around.
    const end = place < 0 ? undefined : this.#run({ ...thread, at: thread.at + 1, place }, this.#unseen());
    const holds = (end !== undefined) !== step.negated;
    if (!this.#keepsGroups) (this.#looks ??= new Map()).set(key, holds);
    if (!holds) return undefined;
    return step.negated || end === undefined ? thread.saved : end.saved;
  }
}

/** Which steps were tried at which positions. */
interface Seen {
  /**
   * Adds an entry.
   * @returns Whether it is new.
   */
  add(key: number, saved: readonly number[]): boolean;
  clear(): void;
}

class SeenPlaces implements Seen {
  readonly #size: number;
  #bits: Uint8Array | undefined;
  /** The bytes with entries: to forget them costs no more than it took to make them. */
  #used: number[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  add(key: number): boolean {
    this.#bits ??= new Uint8Array((this.#size >> 3) + 1);
    const bit = 1 << (key & 7);
    const byte = this.#bits[key >> 3];
    if ((byte & bit) !== 0) return false;
    if (byte === 0) this.#used.push(key >> 3);
    this.#bits[key >> 3] |= bit;
    return true;
  }

  clear(): void {
    for (const byte of this.#used) if (this.#bits !== undefined) this.#bits[byte] = 0;
    this.#used = [];
  }
}

class SeenSparse implements Seen {
  readonly #known = new Set<number>();

  add(key: number): boolean {
    return this.#known.size < this.#known.add(key).size;
  }

  clear(): void {
    this.#known.clear();
  }
}

/** With back references the contents of the groups matter too. */
class SeenWithGroups implements Seen {
  readonly #known = new Set<string>();

  add(key: number, saved: readonly number[]): boolean {
    const text = `${key}:${saved}`;
    if (this.#known.has(text)) return false;
    // A set of millions would take too much memory.
    if (this.#known.size >= 50_000) throw new RangeError("its references take too many steps");
    this.#known.add(text);
    return true;
  }

  clear(): void {
    this.#known.clear();
  }
}

function withSaved(saved: readonly number[], slot: number, place: number): readonly number[] {
  const copy = saved.slice();
  copy[slot] = place;
  return copy;
}

function lower(code: number): string {
  return String.fromCodePoint(code).toLowerCase();
}
