/**
 * Closes connections and listeners that the other side may have ended already.
 * @module
 */

/** Closes something that may be closed already. */
export function closeQuietly(open: Disposable & { close(): void }): void {
  try {
    open.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}
