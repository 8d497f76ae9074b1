/**
 * The files of a directory that an image is built of, without those that its `.dockerignore` names.
 * Source: docs.docker.com, "Build context", ".dockerignore files".
 * @module
 */

import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { matchesGlob } from "#lib/text/glob.ts";

/** A line of `.dockerignore`. */
interface IgnoreRule {
  readonly steps: readonly string[];
  /** Whether what it matches is not ignored after all. */
  readonly isException: boolean;
}

function rulesOf(text: string): IgnoreRule[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
  return lines.map((line) => {
    const isException = line.startsWith("!");
    const steps = line.slice(isException ? 1 : 0).split("/").filter((step) => step !== "" && step !== ".");
    return { steps, isException };
  }).filter(({ steps }) => steps.length > 0);
}

/** Whether a rule matches a path, or a directory that it is in. */
function matches(steps: readonly string[], path: readonly string[]): boolean {
  if (steps.length === 0) return true;
  const [first, ...rest] = steps;
  if (first === "**") return rest.length === 0 || path.some((_, i) => matches(rest, path.slice(i)));
  return path.length > 0 && matchesGlob(first, path[0]) && matches(rest, path.slice(1));
}

function isIgnored(path: readonly string[], rules: readonly IgnoreRule[]): boolean {
  const last = rules.findLast(({ steps }) => matches(steps, path));
  return last !== undefined && !last.isException;
}

/**
 * The paths of a directory that belong to an image's context, below the directory.
 * @param dockerfile Is sent even if it is ignored.
 */
export function contextPaths(directory: string, dockerfile: string): string[] {
  const rules = rulesOf(readTextFileIfExists(`${directory}/.dockerignore`) ?? "");
  const hasExceptions = rules.some(({ isException }) => isException);
  const paths: string[] = [];
  const walk = (steps: readonly string[]) => {
    for (const entry of Deno.readDirSync([directory, ...steps].join("/"))) {
      const path = [...steps, entry.name];
      const ignored = isIgnored(path, rules) && path.join("/") !== dockerfile && path.join("/") !== ".dockerignore";
      if (!ignored) paths.push(path.join("/"));
      // Something below a directory that is ignored may be an exception.
      const mayHold = hasExceptions || dockerfile.startsWith(`${path.join("/")}/`);
      if (entry.isDirectory && (!ignored || mayHold)) walk(path);
    }
  };
  walk([]);
  return paths.sort();
}
