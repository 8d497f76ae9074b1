/**
 * Texts as code points, for comparing in matchers.
 * @module
 */

/** The code points of `text`. */
export function codePoints(text: string): number[] {
  const codes: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i) ?? 0;
    if (code > 0xffff) i++;
    codes.push(code);
  }
  return codes;
}
