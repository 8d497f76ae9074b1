/**
 * Parsers of the output of Deno's tools. The texts may change with a version, so each function has a test against the
 * real tool. The texts that the programs themselves parse are in lib/os/deno_texts.ts.
 * @module
 */

/** Whether `deno compile` failed because it could not download `denort`, the runtime of its executables. */
export function lacksDenort(errors: string): boolean {
  return /denort|dl\.deno\.land/.test(errors);
}

/** Whether `deno coverage` failed because none of the measured files ran, or the test file could not be loaded. */
export function coveredNothing(errors: string): boolean {
  return /No covered files|No coverage files|No files/i.test(errors);
}

/** The test counts of `deno test`; all 0 if there is no line with counts. */
export function testCounts(
  output: string,
): { readonly passed: number; readonly failed: number; readonly ignored: number } {
  const line = output.split("\n").findLast((text) => /^(ok|FAILED) \| \d+ passed/.test(text)) ?? "";
  const count = (word: string) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);
  return { passed: count("passed"), failed: count("failed"), ignored: count("ignored") };
}

/**
 * The tests that `deno test` names below ` FAILURES `: `name => ./file:line:column`, and a step as
 * `name ... step => …`.
 */
export function failedTests(output: string): string[] {
  const [, list = ""] = output.split(/^ FAILURES $/m);
  const names = [...list.matchAll(/^(.*) => \S+:\d+:\d+$/gm)].map(([, name]) => name.split(" ... ")[0]);
  return [...new Set(names)];
}

/** The files with errors of `deno check`. */
export function complainedFiles(errors: string): Set<string> {
  const files = new Set<string>();
  // The first place after each error is that of the error; further places explain it.
  for (const error of errors.split(/^(?=TS\d+ \[ERROR\])/m)) {
    const place = / at (file:\/\/\S+):\d+:\d+$/m.exec(error);
    if (place !== null) files.add(decodeURIComponent(new URL(place[1]).pathname));
  }
  return files;
}
