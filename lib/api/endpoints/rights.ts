/**
 * What the user of a session may do and see, by the rules of `external_auth`, and by those of the API token if it is
 * one. The master checks each call again; this decides what the API shows from the master's own data.
 * @module
 */

import { allowsJob, allowsMasterCall, type PublishedCall } from "#lib/auth/rules.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { tokenRules } from "#lib/auth/external_auth.ts";
import type { EauthToken } from "#lib/auth/tokens.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { acceptedFleet, type KnownFleet } from "#lib/fleet/resolve_target.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { idsOf } from "#lib/master/requests/rule_targets.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";
import type { ApiParts, ApiRequest } from "./endpoint.ts";
import { provenToken } from "./proven.ts";

/** The parts that the rights of a user are read with. */
type RightsParts = Pick<ApiParts, "opts" | "log">;

/** The rights of one user, as they are now. */
export class UserRights {
  readonly user: string;
  /** Lists of rules, each of which must allow a call. */
  readonly #lists: readonly (readonly Value[])[];
  readonly #parts: RightsParts;
  #fleet: KnownFleet | undefined;

  constructor(token: EauthToken, parts: RightsParts) {
    const own = token.apiToken?.rules;
    this.user = token.name;
    this.#lists = [tokenRules(token, parts.opts), ...own === undefined ? [] : [own]];
    this.#parts = parts;
  }

  /**
   * The rights of the user of a request.
   * @throws {ApiError} 401 if there is none.
   */
  static of(request: Pick<ApiRequest, "held">, parts: RightsParts): UserRights {
    return new UserRights(provenToken(request), parts);
  }

  /** The accepted minions, with their stored data. */
  get fleet(): KnownFleet {
    const { opts, log } = this.#parts;
    const data = new DataCache(opts.cachedir, { log: log.warning });
    return this.#fleet ??= acceptedFleet(opts, { keys: new KeyStore(opts.pki_dir), data });
  }

  /** Whether the user may run this runner or wheel function. */
  mayRun(form: "runner" | "wheel", fun: string, kwargs: ValueMap = new Map()): boolean {
    return this.#lists.every((rules) => allowsMasterCall(rules, { form, fun, args: [], kwargs }) === true);
  }

  /** @throws {ApiError} 401, in the words of Salt, if the user may not run it. */
  checkMayRun(form: "runner" | "wheel", fun: string, kwargs: ValueMap = new Map()): void {
    if (!this.mayRun(form, fun, kwargs)) throw new ApiError(401, `Authorization error occurred: ${form} ${fun}`);
  }

  /** Whether the user may run the calls on these minions. */
  mayPublish(calls: readonly PublishedCall[], minions: readonly string[]): boolean {
    const matching = (expression: string) => idsOf(expression, this.fleet);
    return this.#lists.every((rules) => allowsJob(rules, calls, { minions, matching }));
  }

  /** Whether the user may run every wheel function: these show all there is. */
  get isAdministrator(): boolean {
    return this.#lists.every(showsAll);
  }

  /** The accepted minions that the rules reach. */
  minions(): ReadonlySet<string> {
    const [first, ...others] = this.#lists.map((rules) => this.#reached(rules));
    return others.reduce((all, more) => all.intersection(more), first);
  }

  #reached(rules: readonly Value[]): ReadonlySet<string> {
    if (showsAll(rules) || rules.some((rule) => typeof rule === "string" && !rule.startsWith("@"))) {
      return new Set(this.fleet.ids);
    }
    const reached = new Set<string>();
    for (const rule of rules) {
      const [target] = isMap(rule) && rule.size === 1 ? rule.keys() : [];
      if (typeof target !== "string" || target.startsWith("@")) continue;
      for (const id of target === "*" ? this.fleet.ids : idsOf(target, this.fleet)) reached.add(id);
    }
    return reached;
  }

  /**
   * Which jobs the user sees: own ones, or all with the right to list jobs. To be asked for once for many jobs.
   * @returns Whether those of a user are among them.
   */
  seenJobs(): (user: Value | undefined) => boolean {
    const seesAll = this.mayRun("runner", "jobs.list_job");
    return (user) => seesAll || user === this.user;
  }
}

function showsAll(rules: readonly Value[]): boolean {
  return rules.includes("@wheel") || rules.includes("@wheels");
}
