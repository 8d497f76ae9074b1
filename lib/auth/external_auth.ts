/**
 * `external_auth`: authenticates a name and password, or a token, and finds the rules of that user. Knows no requests
 * and no sockets. Source: Salt 3008.3 `salt/auth/__init__.py` (`LoadAuth`).
 * @module
 */

import { type AttemptRequest, Attempts, TooManyAttemptsError } from "./attempts.ts";
import { authList } from "./auth_list.ts";
import type { EauthCredentials, EauthModule, KnownUser, LoadEauth } from "./eauth_module.ts";
import { messageOf, RefusedError } from "#lib/errors.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { changeNotes } from "#lib/config/master_paths.ts";
import { type EauthToken, Tokens } from "./tokens.ts";
import { truncateValue } from "#lib/text/truncate.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** An authenticated user and the user's rules. */
export interface Identity {
  readonly user: string;
  /** The rules: lib/auth/rules.ts. */
  readonly rules: readonly Value[];
  /** Rules that must allow a call as well: those of an API token. */
  readonly limits?: readonly Value[];
}

/** Longest name and password that are accepted, in UTF-16 units. */
const MAX_NAME = 1_024;
const MAX_PASSWORD = 4_096;
/** Longest life of a token that a user chooses, in seconds. */
const MAX_EXPIRE_S = 10 * 365 * 86_400;

/** The kind of the error for a user whose password was not checked: Salt's clients show its text. */
export const BUSY = "PublishError";

/** Salt keeps the rules of `rest` in its tokens, as they cannot be had without the password. */
function keepsRules(opts: Pick<MasterOpts, "keep_acl_in_token" | "external_auth">): boolean {
  return opts.keep_acl_in_token || opts.external_auth.has("rest");
}

/** The rules of the user of a token. */
export function tokenRules(
  { name, eauth, groups, authList: kept }: EauthToken,
  opts: Pick<MasterOpts, "keep_acl_in_token" | "external_auth">,
): readonly Value[] {
  if (keepsRules(opts) && Array.isArray(kept)) return kept;
  return authList(mapOrEmpty(opts.external_auth.get(eauth)), name, groups);
}

/** The parts of an {@linkcode ExternalAuth}. */
export interface ExternalAuthParts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  /** Logs errors of peers; limited in number. */
  warn(text: string): void;
  /**
   * Called when a request begins to wait for the check of a password.
   * @returns That request.
   */
  onWait(): AttemptRequest;
  /** The attempts that wait for an answer. Tests give their own. */
  readonly attempts?: Attempts;
  readonly load: LoadEauth;
}

/** A user who was just authenticated by a system. */
interface SignedIn extends EauthCredentials, KnownUser {
  readonly eauth: string;
  readonly module: EauthModule;
}

/** `external_auth` in one thread of a master. */
export class ExternalAuth {
  readonly tokens: Tokens;
  readonly #parts: ExternalAuthParts;
  readonly #attempts: Attempts;
  readonly #modules = new Map<string, Promise<EauthModule | undefined>>();

  constructor(parts: ExternalAuthParts) {
    const { opts, log } = parts;
    this.#parts = parts;
    this.#attempts = parts.attempts ?? new Attempts();
    this.tokens = new Tokens({
      directory: opts.token_dir,
      hashType: opts.hash_type,
      log: log.error,
      notes: changeNotes(opts),
    });
  }

  /**
   * Authenticates the sender of `load`: by its `token` if it has one, else by `eauth`, `username` and `password`.
   * @throws {RefusedError} TokenAuthenticationError or EauthAuthenticationError; a wrong password takes a second or
   * more. {@linkcode BUSY} if it was not checked.
   */
  async identify(load: ValueMap): Promise<Identity> {
    if (load.has("token")) return this.#identifyToken(load.get("token"));
    const signedIn = await this.#signIn(load);
    const { eauth, username: user, groups } = signedIn;
    const own = await this.#ownRules(signedIn);
    return { user, rules: own ?? authList(this.#config(eauth), user, groups) };
  }

  /**
   * `mk_token`.
   * @throws {RefusedError} As {@linkcode identify}.
   */
  async makeToken(load: ValueMap): Promise<ValueMap> {
    const signedIn = await this.#signIn(load);
    const { opts, log } = this.#parts;
    const { username: name, eauth, groups } = signedIn;
    const authList = keepsRules(opts) ? { authList: await this.#ownRules(signedIn) ?? null } : {};
    const wished = this.#mayChooseExpiry(eauth, name) ? toNumber(load.get("token_expire")) : undefined;
    const expireS = wished !== undefined && wished > 0 ? Math.min(wished, MAX_EXPIRE_S) : opts.token_expire;
    log.info(`User ${truncateValue(name)} of ${eauth} got a token for ${expireS} seconds`);
    return this.tokens.make({ name, eauth, groups, ...authList }, expireS).data;
  }

  #identifyToken(text: Value | undefined): Identity {
    const token = this.tokens.get(text);
    if (token === undefined || !isMap(this.#parts.opts.external_auth.get(token.eauth))) {
      this.#parts.warn('Authentication failure of type "token" occurred.');
      throw new RefusedError("TokenAuthenticationError", 'Authentication failure of type "token" occurred.');
    }
    const limits = token.apiToken?.rules;
    return { user: token.name, rules: tokenRules(token, this.#parts.opts), ...limits !== undefined && { limits } };
  }

  /** @throws {RefusedError} EauthAuthenticationError, which never says why; {@linkcode BUSY}. */
  async #signIn(load: ValueMap): Promise<SignedIn> {
    const [eauth, username, password] = ["eauth", "username", "password"].map((name) => load.get(name));
    if (!isText(eauth, MAX_NAME) || !isText(username, MAX_NAME) || !isText(password, MAX_PASSWORD)) {
      throw this.#refusal(eauth, username, "the user name is missing or too long");
    }
    if (!isMap(this.#parts.opts.external_auth.get(eauth))) {
      throw this.#refusal(eauth, username, "external_auth has no such system");
    }
    const signedIn = await this.#attempt(username, async () => {
      try {
        const module = await this.#module(eauth);
        const account = await module?.authenticate({ username, password });
        return module === undefined || account === undefined
          ? undefined
          : { eauth, username, password, module, ...account };
      } catch (error) {
        this.#parts.log.error(`${eauth}: ${truncateValue(username)} cannot be authenticated: ${messageOf(error)}`);
        return undefined;
      }
    });
    if (signedIn === undefined) throw this.#refusal(eauth, username, "wrong name or password");
    return signedIn;
  }

  /** @throws {RefusedError} PublishError, if too many attempts wait: it says so, as the password may be right. */
  async #attempt<T>(username: string, ask: () => Promise<T | undefined>): Promise<T | undefined> {
    try {
      return await this.#attempts.make(ask, this.#parts.onWait());
    } catch (error) {
      if (!(error instanceof TooManyAttemptsError)) throw error;
      this.#parts.warn(`User ${truncateValue(username)} is not authenticated now: too many attempts wait`);
      throw new RefusedError(BUSY, error.message);
    }
  }

  #refusal(eauth: Value | undefined, username: Value | undefined, why: string): RefusedError {
    this.#parts.warn(
      `Authentication failure of type "eauth" (${truncateValue(eauth)}) for user ${truncateValue(username)}: ${why}`,
    );
    const name = typeof username === "string" ? username.slice(0, MAX_NAME) : "UNKNOWN";
    const text = `Authentication failure of type "eauth" occurred for user ${name}.`;
    return new RefusedError("EauthAuthenticationError", text);
  }

  /** The rules of the system itself, or of the one that `eauth_acl_module` names. */
  async #ownRules(signedIn: SignedIn): Promise<readonly Value[] | undefined> {
    const other = this.#parts.opts.eauth_acl_module;
    if (other === "" && "ownRules" in signedIn) return signedIn.ownRules;
    const module = other === "" ? signedIn.module : await this.#module(other);
    return await module?.rules?.(signedIn);
  }

  #module(name: string): Promise<EauthModule | undefined> {
    const { opts, log, load } = this.#parts;
    let module = this.#modules.get(name);
    if (module === undefined) {
      module = load(name, { opts, config: this.#config(name), log });
      this.#modules.set(name, module);
    }
    return module;
  }

  #config(name: string): ValueMap {
    return mapOrEmpty(this.#parts.opts.external_auth.get(name));
  }

  /** `token_expire_user_override`: True for everybody, or a map of systems and their users. */
  #mayChooseExpiry(eauth: string, user: string): boolean {
    const override = this.#parts.opts.token_expire_user_override;
    if (override === true) return true;
    const users = isMap(override) ? override.get(eauth) : undefined;
    return Array.isArray(users) && users.includes(user);
  }
}

function isText(value: Value | undefined, max: number): value is string {
  return typeof value === "string" && value.length <= max && !value.includes("\0");
}
