/**
 * The order of versions of Python's packages.
 * Source: packaging.python.org, "Version specifiers" (PEP 440).
 * @module
 */

const VERSION =
  /^v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(a|b|c|rc|alpha|beta|pre|preview)[-_.]?(\d*))?(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d*))?(?:[-_.]?dev[-_.]?(\d*))?(?:\+([a-z\d]+(?:[-_.][a-z\d]+)*))?$/;

const STAGES: Readonly<Record<string, number>> = { a: 0, alpha: 0, b: 1, beta: 1, c: 2, rc: 2, pre: 2, preview: 2 };

/** The sort key of a version: lists of numbers; `undefined`: it is not a valid version. */
function rank(version: string): readonly number[][] | undefined {
  const match = VERSION.exec(version.trim().toLowerCase());
  if (match === null) return undefined;
  const [, epoch = "0", release, stage, stageNumber, implicit, post, postNumber, dev] = match;
  const isFinal = stage === undefined;
  const isPost = implicit !== undefined || post !== undefined;
  const number = (digits: string | undefined) => Number(digits || "0");
  // A development version of no stage comes before all stages, a final version after them.
  const pre = isFinal ? (dev !== undefined && !isPost ? [-1, 0] : [3, 0]) : [STAGES[stage], number(stageNumber)];
  return [
    [Number(epoch)],
    release.split(".").map(Number),
    pre,
    isPost ? [1, number(implicit ?? postNumber)] : [0, 0],
    dev === undefined ? [1, 0] : [0, number(dev)],
  ];
}

/** The sign of the order of two versions; what is not a version is below all others. */
export function comparePythonVersions(a: string, b: string): number {
  const [left, right] = [rank(a), rank(b)];
  if (left === undefined || right === undefined) return Number(left !== undefined) - Number(right !== undefined);
  for (const [i, numbers] of left.entries()) {
    const others = right[i];
    for (let at = 0; at < Math.max(numbers.length, others.length); at++) {
      const order = (numbers[at] ?? 0) - (others[at] ?? 0);
      if (order !== 0) return Math.sign(order);
    }
  }
  return 0;
}

/** Whether a version comes before a release: alpha, beta, candidate, or of development. */
export function isPreRelease(version: string): boolean {
  const match = VERSION.exec(version.trim().toLowerCase());
  return match !== null && (match[3] !== undefined || match[8] !== undefined);
}
