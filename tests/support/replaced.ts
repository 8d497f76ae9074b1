/**
 * A function of the system that is another for the time of one test.
 * @module
 */

/** Runs `act` while `owner[name]` is `by`. */
export async function withReplaced<T extends object, K extends keyof T>(
  owner: T,
  { name, by }: { readonly name: K; readonly by: T[K] },
  act: () => unknown,
): Promise<void> {
  const real = owner[name];
  owner[name] = by;
  try {
    await act();
  } finally {
    owner[name] = real;
  }
}
