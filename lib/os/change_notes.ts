/**
 * Notes of what has changed, from any thread or process of the host to the one that passes changes on. A note is an
 * empty file with the name of what has changed, in a directory with the name of its kind. It is there until somebody
 * has dealt with it, also if nobody runs who does. One change noted many times is one note.
 * @module
 */

import { statOrUndefined } from "./file_kind.ts";
import { storing } from "./store_files.ts";

/** What has changed. */
export interface ChangeNote {
  readonly kind: string;
  readonly name: string;
}

/** The notes below one directory. */
export class ChangeNotes {
  readonly #directory: string;

  /** Nothing is made before the first note. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Notes a change that was made.
   * @param kind A file name, as `name`: the caller has checked both.
   * @throws {StoreError} If it cannot be noted.
   */
  add(kind: string, name: string): void {
    storing(`note the change of ${kind}/${name}`, this.#directory, () => this.#make(kind, name));
  }

  /** Whether a change is noted that was not dealt with. */
  has(kind: string, name: string): boolean {
    return [this.#fresh, this.#taken].some((directory) =>
      statOrUndefined(`${directory}/${kind}/${name}`) !== undefined
    );
  }

  #make(kind: string, name: string): void {
    const directory = `${this.#fresh}/${kind}`, path = `${directory}/${name}`;
    for (;;) {
      try {
        Deno.openSync(path, { write: true, create: true, truncate: true, mode: 0o600 }).close();
        return;
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
        // There was none yet, or they were just taken.
        Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
      }
    }
  }

  /**
   * Takes the notes: those of an earlier call that were not dealt with, otherwise those that were made since. A change
   * that is noted from now on is another note.
   */
  take(): ChangeNote[] {
    const left = notesBelow(this.#taken);
    if (left.length > 0) return left;
    try {
      // Directories alone are what an end in the middle of the last call has left.
      if (statOrUndefined(this.#taken) !== undefined) Deno.removeSync(this.#taken, { recursive: true });
      Deno.renameSync(this.#fresh, this.#taken);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw error;
    }
    return notesBelow(this.#taken);
  }

  /** When what was taken was noted last, in milliseconds. */
  notedMs({ kind, name }: ChangeNote): number {
    return statOrUndefined(`${this.#taken}/${kind}/${name}`)?.mtime?.getTime() ?? 0;
  }

  /** What was taken has been dealt with. */
  done(notes: readonly ChangeNote[]): void {
    for (const { kind, name } of notes) Deno.removeSync(`${this.#taken}/${kind}/${name}`);
    // A note that was made while its directory was taken stays, and is taken next.
    for (const directory of [...new Set(notes.map(({ kind }) => `${this.#taken}/${kind}`)), this.#taken]) {
      if ([...Deno.readDirSync(directory)].length === 0) Deno.removeSync(directory);
    }
  }

  get #fresh(): string {
    return `${this.#directory}/fresh`;
  }

  get #taken(): string {
    return `${this.#directory}/taken`;
  }
}

function notesBelow(directory: string): ChangeNote[] {
  return entries(directory).flatMap((kind) => entries(`${directory}/${kind}`).map((name) => ({ kind, name })));
}

function entries(directory: string): string[] {
  try {
    return [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
