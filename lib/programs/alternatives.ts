/**
 * The output of `update-alternatives`.
 * Source: update-alternatives(1), "QUERY FORMAT".
 * @module
 */

/** The link in the output of `--query`; `undefined` if there is none. */
export function parseLink(output: string): string | undefined {
  const line = output.split("\n\n", 1)[0].split("\n").find((each) => each.startsWith("Link:"));
  return line?.slice("Link:".length).trim();
}
