/**
 * Conditions on versions: `>=1.2`, `<2`, `1.3`.
 * Source: Salt 3008.3, `salt/utils/pkg/__init__.py`, `salt/utils/versions.py` compare.
 * @module
 */

/** Compares two versions: negative, zero or positive. */
export type VersionOrder = (a: string, b: string) => number;

const ACCEPTED: Readonly<Record<string, readonly number[]>> = {
  "<": [-1],
  "<=": [-1, 0],
  "==": [0],
  ">=": [0, 1],
  ">": [1],
  "!=": [-1, 1],
};

/** The operator in front of a wanted version, and the version; without an operator, an empty text. */
export function splitComparison(wanted: string): readonly [operator: string, version: string] {
  const [, operator = "", version] = /^(<=>|!=|>=|<=|>>|<<|<>|>|<|=)?\s?([^<>=]+)$/.exec(wanted) ?? [];
  return version === undefined ? ["", wanted] : [operator, version];
}

/** Whether an operator accepts an order of two versions, below 0, 0 or above; an unknown operator accepts none. */
export function accepts(operator: string, order: number): boolean {
  return Object.hasOwn(ACCEPTED, operator) && ACCEPTED[operator].includes(Math.sign(order));
}

/**
 * The first available version that meets the condition.
 * @param options.ignoreEpoch Whether the part before a colon is ignored.
 */
export function matchingVersion(
  wanted: string,
  available: readonly string[],
  options: { readonly order: VersionOrder; readonly ignoreEpoch?: boolean },
): string | undefined {
  const [operator, version] = splitComparison(wanted);
  const order = options.ignoreEpoch === true ? withoutEpochs(options.order) : options.order;
  return available.find((candidate) => accepts(operator || "==", order(candidate, version)));
}

/** Compares the versions without their epochs. */
export function withoutEpochs(order: VersionOrder): VersionOrder {
  const bare = (version: string) => version.replace(/^[^:]*:/, "");
  return (a, b) => order(bare(a), bare(b));
}
