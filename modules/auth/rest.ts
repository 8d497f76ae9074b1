/**
 * `external_auth: rest`: a web service accepts a user with the status 200, and may return rules, as a list in JSON.
 * Source: Salt 3008.3 `salt/auth/rest.py`.
 * @module
 */

import { boundedBody } from "#lib/auth/bounded_answer.ts";
import { ConfigError } from "#lib/errors.ts";
import {
  type EauthContext,
  type EauthCredentials,
  type EauthModule,
  knownWithoutGroups,
} from "#lib/auth/eauth_module.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { toValue, type Value } from "#lib/values/value.ts";

/** Time for an answer, in milliseconds. */
const ANSWER_MS = 10_000;

/**
 * Makes it.
 * @throws {ConfigError} Without a usable `^url`.
 */
export function restEauth({ config }: EauthContext): EauthModule {
  const url = config.get("^url");
  if (typeof url !== "string" || !/^https?:\/\//.test(url)) {
    throw new ConfigError("rest needs ^url, an address of http or https", { option: "external_auth" });
  }
  return {
    authenticate: async (credentials) => knownWithoutGroups(await ask(url, credentials) !== undefined),
    rules: async (credentials) => {
      const own = config.get(credentials.username);
      const rules = [...listOrEmpty(own), ...await ask(url, credentials) ?? []];
      return rules.length === 0 ? undefined : rules;
    },
  };
}

/**
 * The rules that the service gives; `undefined` if it does not know the user.
 * @throws If it does not answer as it should.
 */
async function ask(url: string, { username, password }: EauthCredentials): Promise<readonly Value[] | undefined> {
  const response = await fetch(url, {
    method: "POST",
    body: new URLSearchParams({ username, password }),
    redirect: "error", // no redirect: the password must not go to another server
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const text = new TextDecoder().decode(await boundedBody(response, "the answer of ^url"));
  if (response.status !== 200) return undefined;
  if (text.trim() === "") return [];
  const rules = toValue(JSON.parse(text));
  if (rules !== null && !Array.isArray(rules)) throw new TypeError("the answer of ^url is not a list of rules");
  return rules ?? [];
}
