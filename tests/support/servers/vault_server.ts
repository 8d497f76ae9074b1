/**
 * A server with the part of Vault's HTTP interface that is used here, as developer.hashicorp.com documents it: engines
 * of key and value of both versions, a sign-in by AppRole, policies. It is no Vault: what a real one does beyond that
 * is not in it.
 * @module
 */

/** A running server. */
export interface VaultServer extends AsyncDisposable {
  readonly url: string;
  /** The requests so far: method, path, token. */
  readonly requests: readonly string[];
  /** Makes the tokens of sign-ins invalid. */
  revoke(): void;
  /** The status with which requests of a method are refused, whatever they ask of secrets and policies. */
  refused: (method: string) => number | undefined;
}

/** The token that is always valid, and what a sign-in needs. */
export const VAULT_TOKEN = "root-token", ROLE_ID = "role", SECRET_ID = "secret-id";

interface Versioned {
  readonly versions: Map<number, { data: Record<string, unknown> | null; state: "live" | "deleted" | "destroyed" }>;
  last: number;
}

type Answer = readonly [status: number, body?: unknown];

const NOT_FOUND: Answer = [404, { errors: [] }];

/** An engine of version 1, at `kv/`. */
class FirstEngine {
  readonly #secrets = new Map<string, Record<string, unknown>>();

  answer(method: string, path: string, body: Record<string, unknown>): Answer {
    if (method === "LIST") return listed([...this.#secrets.keys()], path);
    if (method === "POST") return (this.#secrets.set(path, body), [204]);
    if (method === "DELETE") return (this.#secrets.delete(path), [204]);
    const data = this.#secrets.get(path);
    return data === undefined ? NOT_FOUND : [200, { data, lease_duration: 2764800 }];
  }
}

function listed(names: readonly string[], path: string): Answer {
  const prefix = path === "" || path.endsWith("/") ? path : `${path}/`;
  const below = names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  const keys = [...new Set(below.map((name) => name.replace(/\/.*/, "/")))].sort();
  return keys.length === 0 ? NOT_FOUND : [200, { data: { keys } }];
}

/** An engine of version 2, at `secret/`. */
class SecondEngine {
  readonly #secrets = new Map<string, Versioned>();

  answer(method: string, path: string, body: Record<string, unknown>): Answer {
    const [, part, name] = /^(data|metadata|delete|destroy)(?:\/(.*))?$/.exec(path) ?? [];
    const known = this.#secrets.get(name ?? "");
    if (part === "metadata") {
      return method === "LIST" ? listed([...this.#secrets.keys()], name ?? "") : [405, { errors: [] }];
    }
    if (part === "delete" || part === "destroy") {
      for (const number of numbersOf(body)) {
        const version = known?.versions.get(number);
        if (version === undefined) continue;
        version.state = part === "delete" ? "deleted" : "destroyed";
        if (part === "destroy") version.data = null;
      }
      return [204];
    }
    if (part !== "data" || name === undefined) return NOT_FOUND;
    return this.#data(method, name, body, known);
  }

  #data(method: string, name: string, body: Record<string, unknown>, known: Versioned | undefined): Answer {
    const current = known?.versions.get(known.last);
    const isLive = current?.state === "live";
    if (method === "DELETE") {
      if (current !== undefined) current.state = "deleted";
      return [204];
    }
    if (method === "GET") {
      if (!isLive) return NOT_FOUND;
      return [200, { data: { data: current.data, metadata: { version: known?.last, destroyed: false } } }];
    }
    if (method === "PATCH" && !isLive) return NOT_FOUND;
    const given = recordOf(body.data);
    const data = method === "PATCH" ? withoutNulls({ ...current?.data, ...given }) : given;
    const secret = known ?? { versions: new Map(), last: 0 };
    secret.versions.set(++secret.last, { data, state: "live" });
    this.#secrets.set(name, secret);
    return [200, { data: { version: secret.last, destroyed: false } }];
  }
}

function numbersOf({ versions }: Record<string, unknown>): number[] {
  return Array.isArray(versions) ? versions.map(Number) : [];
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function withoutNulls(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
}

/** Policies, below `sys/policy`. */
function policyAnswer(
  policies: Map<string, string>,
  method: string,
  name: string,
  body: Record<string, unknown>,
): Answer {
  if (name === "") return [200, { policies: ["default", ...policies.keys()] }];
  if (method === "POST") return (policies.set(name, String(body.policy)), [204]);
  const rules = policies.get(name);
  if (rules === undefined) return [404, { errors: [`No policy named: ${name}`] }];
  if (method === "DELETE") return (policies.delete(name), [204]);
  return [200, { name, rules }];
}

/** Starts a server on loopback. */
export function startVault(): VaultServer {
  const requests: string[] = [], tokens = new Set<string>(), policies = new Map<string, string>();
  const first = new FirstEngine(), second = new SecondEngine();
  let signIns = 0;
  const answer = (method: string, path: string, body: Record<string, unknown>, token: string | null): Answer => {
    if (path === "auth/approle/login") {
      if (body.role_id !== ROLE_ID || body.secret_id !== SECRET_ID) {
        return [400, { errors: ["invalid role or secret ID"] }];
      }
      tokens.add(`approle-${++signIns}`);
      return [200, { auth: { client_token: `approle-${signIns}`, lease_duration: 2764800 } }];
    }
    if (token !== VAULT_TOKEN && !tokens.has(token ?? "")) return [403, { errors: ["permission denied"] }];
    if (path === "auth/token/lookup-self") {
      return [200, {
        data: { id: token, accessor: "a", creation_time: 1700000000, expire_time: null, num_uses: 0, ttl: 0 },
      }];
    }
    const mount = path.match(/^sys\/internal\/ui\/mounts\/(kv|secret)(?:\/|$)/)?.[1];
    if (mount === "kv") return [200, { data: { type: "kv", path: "kv/", options: null } }];
    if (mount === "secret") return [200, { data: { type: "kv", path: "secret/", options: { version: "2" } } }];
    const refusal = vault.refused(method);
    if (refusal !== undefined) return [refusal, { errors: ["refused"] }];
    if (path === "sys/policy" || path.startsWith("sys/policy/")) {
      return policyAnswer(policies, method, path.slice("sys/policy/".length), body);
    }
    if (path.startsWith("kv/")) return first.answer(method, path.slice("kv/".length), body);
    if (path.startsWith("secret/")) return second.answer(method, path.slice("secret/".length), body);
    return [403, { errors: ["permission denied"] }];
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const path = decodeURIComponent(new URL(request.url).pathname).replace(/^\/v1\//, "");
    const token = request.headers.get("x-vault-token");
    requests.push(`${request.method} ${path} ${token}`);
    const text = await request.text();
    const [status, body] = answer(request.method, path, text === "" ? {} : recordOf(JSON.parse(text)), token);
    return body === undefined ? new Response(null, { status }) : Response.json(body, { status });
  });
  const vault: VaultServer = {
    url: `http://127.0.0.1:${server.addr.port}`,
    requests,
    revoke: () => tokens.clear(),
    refused: () => undefined,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return vault;
}
