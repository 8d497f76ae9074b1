/**
 * The names in a directory, none if there is no such directory.
 * @module
 */

import { isGone } from "./deno_texts.ts";

/**
 * The names of all that is in `directory`, in no order.
 * @throws What `Deno.readDir` throws if it cannot be read.
 */
export async function namesIn(directory: string): Promise<string[]> {
  return (await entriesOf(directory)).map(({ name }) => name);
}

/**
 * The names of the directories in `directory`, in no order.
 * @throws What `Deno.readDir` throws if it cannot be read.
 */
export async function directoriesIn(directory: string): Promise<string[]> {
  return (await entriesOf(directory)).filter(({ isDirectory }) => isDirectory).map(({ name }) => name);
}

async function entriesOf(directory: string): Promise<Deno.DirEntry[]> {
  try {
    return await Array.fromAsync(Deno.readDir(directory));
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}
