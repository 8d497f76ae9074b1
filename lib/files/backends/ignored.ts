/**
 * The options `file_ignore_regex` and `file_ignore_glob`: which files are not served.
 * @module
 */

import { RegexError } from "#lib/errors.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import type { BackendHost, FileServerOpts } from "#lib/plugins/file_backend.ts";

/**
 * A test for paths that are not served. An invalid expression is left out and logged, as in Salt.
 */
export function ignoredFiles(
  { file_ignore_regex, file_ignore_glob }: Pick<FileServerOpts, "file_ignore_regex" | "file_ignore_glob">,
  host: BackendHost,
): (path: string) => boolean {
  const tests = [
    ...file_ignore_regex.flatMap((pattern) => regexTest(pattern, host)),
    ...file_ignore_glob.map(compileGlob),
  ];
  return (path) => tests.some((test) => test(path));
}

function regexTest(pattern: string, host: BackendHost): ((path: string) => boolean)[] {
  try {
    const regex = pythonRegex(pattern, { search: true });
    return [(path) => matches(() => regex.test(path), host)];
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    host.log("warning", `Unable to parse file_ignore_regex. Skipping: ${pattern}`);
    return [];
  }
}

/** A path that takes too many steps to test is not served. */
function matches(test: () => boolean, host: BackendHost): boolean {
  try {
    return test();
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    host.log("warning", `A file is not served, as file_ignore_regex cannot be tested: ${error.message}`);
    return true;
  }
}
