/** @module */
export function runSaltCall(_argv: readonly string[], _io?: unknown): Promise<number> {
  return Promise.resolve(0);
}
