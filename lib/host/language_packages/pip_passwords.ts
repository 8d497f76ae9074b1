/**
 * Passwords in the URLs of pip's command line, which every process of the host could read there. Those of options go
 * into the environment variables that pip reads for them, those of packages into a file of requirements. Source:
 * pip.pypa.io, "Configuration" and "Requirements File Format".
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { findUser } from "#lib/os/users.ts";
import { hasPassword } from "#lib/text/url_credentials.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** The options whose values are URLs, with the variables of the same meaning. */
const VARIABLES: Readonly<Record<string, string>> = {
  "--index-url": "PIP_INDEX_URL",
  "--extra-index-url": "PIP_EXTRA_INDEX_URL",
  "--find-links": "PIP_FIND_LINKS",
  "--proxy": "PIP_PROXY",
};

/** Short names of options whose values are URLs. */
const SHORT: Readonly<Record<string, string>> = { "-i": "--index-url", "-f": "--find-links", "-e": "--editable" };

/** The words with options whose URL has a password as `--option URL`, however they were written. */
function spreadOptions(words: readonly string[]): string[] {
  return words.flatMap((word, i) => {
    const [, option = "", value = ""] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? [];
    const takesUrl = Object.hasOwn(VARIABLES, option) || option === "--editable";
    if (takesUrl && hasPassword(value)) return [option, value];
    return Object.hasOwn(SHORT, word) && hasPassword(words[i + 1] ?? "") ? [SHORT[word]] : [word];
  });
}

/** A call of pip without passwords in its words. */
export interface PipCall {
  readonly words: readonly string[];
  /** Variables for its environment. */
  readonly environment: ValueMap;
  /** Lines for a file of requirements; there may be none. */
  readonly requirements: readonly string[];
}

/** The call of pip with `given`, with the passwords of URLs moved to its environment and its requirements. */
export function withoutPasswords(given: readonly string[]): PipCall {
  const words = spreadOptions(given);
  const left: string[] = [];
  const environment: ValueMap = new Map();
  const requirements: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const [word, value] = [words[i], words[i + 1]];
    if (Object.hasOwn(VARIABLES, word) && value !== undefined && hasPassword(value)) {
      const password = environment.get(VARIABLES[word]);
      environment.set(VARIABLES[word], password === undefined ? value : `${password} ${value}`);
      i++;
    } else if (word === "--editable" && value !== undefined && hasPassword(value)) {
      requirements.push(`--editable ${value}`);
      i++;
    } else if (!word.startsWith("-") && hasPassword(word)) requirements.push(word);
    else left.push(word);
  }
  return { words: left, environment, requirements };
}

/** A file of requirements that only pip's user can read, until it is disposed of. */
export class PrivateRequirements implements Disposable {
  readonly #path: string;

  /** @throws {CommandError} If there is no such user. */
  constructor(lines: readonly string[], user: string | null) {
    const owner = user === null || user === "" ? undefined : findUser(user);
    if (user && owner === undefined) throw new CommandError(`User '${user}' is not available`);
    this.#path = Deno.makeTempFileSync({ prefix: "pip_requirements_" });
    Deno.writeTextFileSync(this.#path, lines.map((line) => `${line}\n`).join(""), { mode: 0o600 });
    if (owner !== undefined) Deno.chownSync(this.#path, owner.uid, null);
  }

  /** The words for pip. */
  get words(): readonly string[] {
    return ["--requirement", this.#path];
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#path);
  }
}
