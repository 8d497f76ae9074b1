/**
 * The actions of `salt-key`: questions, reports and exit code of each. Knows nothing of command-line syntax or
 * configuration.
 * Source: Salt's `salt.key.KeyCLI`, with its texts. Salt always exits with 0; here a pattern without a match, or a key
 * that could not be handled, gives 1.
 * @module
 */

import { truncateList } from "#lib/text/truncate.ts";
import { byDirectory, KEY_STATES, type KeyMatches } from "#lib/keys/manager.ts";
import type { KeyState } from "#lib/keys/store.ts";
import type { KeyOperations } from "./key_operations.ts";
import { sanitizeLine } from "#lib/text/terminal.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** Input and output of a command that asks questions. */
export interface AskingIo {
  /** Writes to standard output. */
  write(text: string): void;
  /** Writes to standard error. */
  writeError(text: string): void;
  /** Shows `prompt` and reads one line, without its end; `undefined` at the end of the input. */
  readLine(prompt: string): Promise<string | undefined>;
}

/** Options of the actions. */
export interface KeyCliOptions {
  /** `--yes`: ask nothing. */
  readonly yes: boolean;
  /** `--quiet`: no reports. */
  readonly quiet: boolean;
  /** `--include-accepted`, for reject. */
  readonly includeAccepted: boolean;
  /** `--include-rejected`, for accept. */
  readonly includeRejected: boolean;
  /** `--include-denied`, for both. */
  readonly includeDenied: boolean;
  /** `--include-all`: all states that the action may include, except denied keys. */
  readonly includeAll: boolean;
  /** The files that may be the master's public key, the likelier first. */
  readonly publicKeys: readonly string[];
  /** Whether the output is for a person: then it says which fingerprint is for `master_finger`. */
  readonly explain: boolean;
  /** Prints a value according to `--out`; `key` is the default for lists of keys. */
  readonly show: (value: Value) => void;
}

/** An action that changes keys. */
export type KeyAct = "accept" | "reject" | "delete";

/** The report of each action, and its default answer. */
const ACTS: Readonly<Record<KeyAct, { readonly done: string; readonly prompt: string; readonly empty: boolean }>> = {
  accept: { done: "accepted", prompt: "Proceed? [n/Y] ", empty: true },
  reject: { done: "rejected", prompt: "Proceed? [n/Y] ", empty: true },
  delete: { done: "deleted", prompt: "Proceed? [N/y] ", empty: false },
};

/** Salt's words for the states of `--list`, by prefix. */
const LISTS: readonly (readonly [beginning: string, states: readonly KeyState[]])[] = [
  ["acc", ["accepted"]],
  ["pre", ["pending"]],
  ["un", ["pending"]],
  ["rej", ["rejected"]],
  ["den", ["denied"]],
  ["all", KEY_STATES],
];

/** The states for the argument of `--list`; `undefined` if it is unknown. */
export function listedStates(word: string): readonly KeyState[] | undefined {
  return LISTS.find(([beginning]) => word.startsWith(beginning))?.[1];
}

/** The actions, one method each; each returns the exit code. */
export class KeyCli {
  readonly #keys: KeyOperations;
  readonly #options: KeyCliOptions;
  readonly #io: AskingIo;

  constructor(keys: KeyOperations, options: KeyCliOptions & { readonly io: AskingIo }) {
    this.#keys = keys;
    this.#options = options;
    this.#io = options.io;
  }

  /** `-l`, `-L`: the ids of `states`. */
  async list(states: readonly KeyState[]): Promise<number> {
    this.#options.show(byDirectory(await this.#keys.list(states)));
    return 0;
  }

  /** `-p`, `-P`: the keys that match. */
  async print(globs: string): Promise<number> {
    const groups = await this.#keys.print(globs);
    this.#options.show(groups);
    return this.#found(globs, groups);
  }

  /** `-f`, `-F`: the fingerprints of matching keys, including the master's own. */
  async finger(globs: string): Promise<number> {
    const groups = await this.#keys.finger(globs);
    this.#options.show(groups);
    const local = groups.get("local");
    const own = this.#options.publicKeys.find((file) => isMap(local) && local.has(file));
    if (own !== undefined && this.#options.explain) {
      this.#io.writeError(`\nThe option master_finger of minions wants that of ${sanitizeLine(own)}.\n`);
    }
    return this.#found(globs, groups);
  }

  /**
   * `-a`, `-r`, `-d` and their `-all` forms. `all`: no matching key is not a failure, because the operator named none.
   */
  async act(act: KeyAct, globs: string, all: boolean): Promise<number> {
    await this.#keys.refresh();
    const matches = this.#concerned(act, await this.#keys.match(globs));
    if (matches.size === 0) {
      this.#io.write(`The key glob '${sanitizeLine(globs)}' does not match any ${this.#statesSearched(act)} keys.\n`);
      if (all) return 0;
      const elsewhere = [...await this.#keys.match(globs)].flatMap(([state, ids]) =>
        ids.map((id) => `${id} (${state})`)
      );
      if (elsewhere.length > 0) this.#io.writeError(`It matches ${sanitizeLine(truncateList(elsewhere))}.\n`);
      return 1;
    }
    const { done, prompt, empty } = ACTS[act];
    const { yes, quiet, show } = this.#options;
    if (!(yes && quiet)) {
      this.#io.write(`The following keys are going to be ${done}:\n`);
      show(byDirectory(matches));
    }
    if (!yes) {
      const answer = await this.#io.readLine(prompt);
      if (answer === undefined) {
        this.#io.writeError("\nNo answer: nothing was done. Use -y to answer yes to every question.\n");
        return 1;
      }
      if (answer === "" ? !empty : !answer.toLowerCase().startsWith("y")) return 0;
    }
    const { changed, invalid } = act === "delete"
      ? { changed: await this.#keys.delete(matches), invalid: [] }
      : await this.#keys.change(matches, act === "accept" ? "accepted" : "rejected");
    for (const id of invalid) this.#io.writeError(`Unable to ${act} invalid key for ${sanitizeLine(id)}.\n`);
    if (!quiet) { for (const id of changed) this.#io.write(`Key for minion ${sanitizeLine(id)} ${done}.\n`); }
    return invalid.length > 0 ? 1 : 0;
  }

  /** The keys of `matches` that the action applies to: all for delete, else pending keys and included states. */
  #concerned(act: KeyAct, matches: KeyMatches): KeyMatches {
    if (act === "delete") return matches;
    const states = new Set(this.#included(act));
    return new Map([...matches].filter(([state]) => states.has(state)));
  }

  /**
   * The states that an action applies to; for delete, which applies to all, those that Salt names if it finds nothing.
   */
  #included(act: KeyAct): KeyState[] {
    const { includeAccepted, includeRejected, includeDenied, includeAll } = this.#options;
    const states: KeyState[] = ["pending"];
    if (act !== "accept" && (includeAccepted || (includeAll && act === "reject"))) states.push("accepted");
    if (act !== "reject" && (includeRejected || (includeAll && act === "accept"))) states.push("rejected");
    if (includeDenied) states.push("denied");
    return states;
  }

  #statesSearched(act: KeyAct): string {
    const words = this.#included(act).map((state) => state === "pending" ? "unaccepted" : state);
    const last = words.pop() ?? "";
    return words.length === 0 ? last : `${words.join(", ")} or ${last}`;
  }

  #found(globs: string, groups: ValueMap): number {
    if (groups.size > 0 || globs === "*") return 0;
    this.#io.writeError(`The key glob '${sanitizeLine(globs)}' does not match any keys.\n`);
    return 1;
  }
}
