/**
 * Measures the peak memory of a command and its children.
 * @module
 */

import { treeMemory } from "./process_figures.ts";

/** The interval of the samples, in milliseconds. */
const EVERY_MS = 20;

/**
 * Runs a command to its end.
 * @throws {Error} If its exit code is not 0.
 */
export async function peakMemory(words: readonly string[]): Promise<{ readonly out: string; readonly peakKb: number }> {
  const [program, ...args] = words;
  const child = new Deno.Command(program, { args, stdin: "null", stdout: "piped", stderr: "piped" }).spawn();
  let peakKb = 0;
  const timer = setInterval(() => {
    peakKb = Math.max(peakKb, treeMemory(child.pid).pssKb);
  }, EVERY_MS);
  try {
    const { code, stdout, stderr } = await child.output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}:\n${text(stderr).slice(0, 2_000)}`);
    return { out: text(stdout), peakKb };
  } finally {
    clearInterval(timer);
  }
}
