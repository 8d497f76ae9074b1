/**
 * Numbers rounded as Python rounds them: a number that is in the middle goes to the even digit. JavaScript's `toFixed`
 * is exact as well, and takes the larger one there.
 * @module
 */

/** Python's `f"{n:.{digits}f}"`. */
export function formatFixed(n: number, digits: number): string {
  const text = n.toFixed(digits);
  // A float is in the middle only if this product, which is exact, is an odd number.
  const doubled = n * 2 ** (digits + 1);
  if (!Number.isInteger(doubled) || doubled % 2 === 0) return text;
  const isOdd = Number(text.at(-1)) % 2 === 1;
  return isOdd ? (Number(text) - Math.sign(n) * 10 ** -digits).toFixed(digits) : text;
}

/** Python's `round(n, digits)`. */
export function roundHalfEven(n: number, digits: number): number {
  return Number(formatFixed(n, digits));
}
