/**
 * A regular expression as a tree: what {@link ./regex_reader.ts} reads and {@link ./regex_program.ts} runs.
 * Flags have been dealt with: each node says what it matches. A text is its code points.
 * @module
 */

/** Whether a code point is one of those that a set, class or literal stands for. */
export type CharTest = (code: number) => boolean;

/** Whether something holds between two characters: before `codes[at]`. */
export type Assertion = (codes: readonly number[], at: number) => boolean;

/** One piece of an expression. */
export type RegexNode =
  /** One character. */
  | { readonly kind: "char"; readonly test: CharTest }
  /** No character, but a place. */
  | { readonly kind: "place"; readonly holds: Assertion }
  /** One after the other. */
  | { readonly kind: "sequence"; readonly items: readonly RegexNode[] }
  /** One of several, the first that leads to a match. */
  | { readonly kind: "either"; readonly options: readonly RegexNode[] }
  /** Several times, as often as possible, or as seldom if `lazy`. */
  | {
    readonly kind: "repeat";
    readonly item: RegexNode;
    readonly least: number;
    readonly most: number;
    readonly lazy: boolean;
  }
  /** A group that can be referred to. */
  | { readonly kind: "group"; readonly number: number; readonly item: RegexNode }
  /** What the group matched, again. */
  | { readonly kind: "same"; readonly number: number; readonly ignoreCase: boolean }
  /** What follows, or what stands before (so many characters), does or does not match. */
  | { readonly kind: "look"; readonly item: RegexNode; readonly back: number; readonly negated: boolean };

/** The fewest and the most characters that `node` matches. A reference to a group may be of any length. */
export function widthOf(node: RegexNode): readonly [least: number, most: number] {
  switch (node.kind) {
    case "char":
      return [1, 1];
    case "place":
    case "look":
      return [0, 0];
    case "same":
      return [0, Infinity];
    case "group":
      return widthOf(node.item);
    case "repeat": {
      const [least, most] = widthOf(node.item);
      return [least * node.least, most === 0 ? 0 : most * node.most];
    }
    case "sequence":
      return node.items.map(widthOf).reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
    case "either": {
      const widths = node.options.map(widthOf);
      return [Math.min(...widths.map(([least]) => least)), Math.max(...widths.map(([, most]) => most))];
    }
  }
}
