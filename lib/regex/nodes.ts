/**
 * A regular expression as a tree: {@link ./reader.ts} makes it and {@link ./program.ts} runs it. Flags are
 * resolved already: each node says what it matches. A text is an array of code points.
 * @module
 */

/** Whether a code point matches a set, a class or a literal. */
export type CharTest = (code: number) => boolean;

/** Whether a condition holds before `codes[at]`, such as a word boundary. */
export type Assertion = (codes: readonly number[], at: number) => boolean;

/** One node of an expression. */
export type RegexNode =
  /** One character. */
  | { readonly kind: "char"; readonly test: CharTest }
  /** An assertion, which matches no character. */
  | { readonly kind: "place"; readonly holds: Assertion }
  /** Items that must match one after the other. */
  | { readonly kind: "sequence"; readonly items: readonly RegexNode[] }
  /** Alternatives, tried in order. */
  | { readonly kind: "either"; readonly options: readonly RegexNode[] }
  /** A repetition: as many as possible, or as few as possible if `lazy`. */
  | {
    readonly kind: "repeat";
    readonly item: RegexNode;
    readonly min: number;
    readonly max: number;
    readonly lazy: boolean;
  }
  /** A capturing group. */
  | { readonly kind: "group"; readonly number: number; readonly item: RegexNode }
  /** A back reference to a group, with the width of that group. */
  | { readonly kind: "same"; readonly number: number; readonly ignoreCase: boolean; readonly width: Width }
  /** A look-ahead, or a look-behind of `back` characters. */
  | { readonly kind: "look"; readonly item: RegexNode; readonly back: number; readonly negated: boolean };

/** The minimum and maximum number of characters that something matches. */
export type Width = readonly [min: number, max: number];

/** The {@linkcode Width} of `node`. */
export function widthOf(node: RegexNode): Width {
  switch (node.kind) {
    case "char":
      return [1, 1];
    case "place":
    case "look":
      return [0, 0];
    case "same":
      return node.width;
    case "group":
      return widthOf(node.item);
    case "repeat": {
      const [min, max] = widthOf(node.item);
      return [min * node.min, max === 0 ? 0 : max * node.max];
    }
    case "sequence":
      return node.items.map(widthOf).reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
    case "either": {
      const widths = node.options.map(widthOf);
      return [Math.min(...widths.map(([min]) => min)), Math.max(...widths.map(([, max]) => max))];
    }
  }
}
