/**
 * A provider of OpenID Connect in a process of its own, and a browser without pages that logs in there.
 * @module
 */

import { Service } from "#tests/support/processes.ts";
import { eventually } from "#tests/support/eventually.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import type { Alteration, OidcProgramOptions } from "./oidc_options.ts";

const PROGRAM = new URL("./oidc_program.ts", import.meta.url).pathname;
/** The secret of the client: as long as a key for HS256 must be. */
const SECRET = "a secret of a client, of more than 32 characters";

/** A provider on loopback. */
export class OidcServer implements AsyncDisposable {
  readonly issuer: string;
  readonly #options: OidcProgramOptions;
  readonly #directory = Deno.makeTempDirSync({ prefix: "oidc_" });
  #service: Service | undefined;

  /** @param redirectUri Where it sends browsers back to. */
  constructor(redirectUri: string, groups: OidcProgramOptions["groups"] = {}) {
    const port = freePort();
    this.issuer = `http://127.0.0.1:${port}`;
    this.#options = { port, clientId: "salt", secret: SECRET, redirectUri, groups };
    Deno.writeTextFileSync(`${this.#directory}/secret`, `${SECRET}\n`);
  }

  /** The options of `external_auth: oidc`. */
  get options(): Record<string, unknown> {
    const { clientId, redirectUri } = this.#options;
    return {
      "^issuer": this.issuer,
      "^client_id": clientId,
      "^client_secret_file": `${this.#directory}/secret`,
      "^redirect_uri": redirectUri,
      "^scope": "openid profile",
      "^user_claim": "preferred_username",
    };
  }

  /** Starts it, or starts it again. */
  async start(): Promise<void> {
    const words = [Deno.execPath(), "run", "-A", "-q", PROGRAM, JSON.stringify(this.#options)];
    const service = Service.start("oidc-provider", words, `${this.#directory}/output`);
    this.#service = service;
    await eventually(async () => (await fetch(`${this.issuer}/jwks`)).body?.cancel().then(() => true), {
      what: `the provider; it says: ${service.written}`,
    });
  }

  /** Ends it. */
  async stop(): Promise<void> {
    await this.#service?.stop();
  }

  /** Makes its ID tokens wrong from now on. */
  async alter(how: Alteration): Promise<void> {
    const answer = await fetch(`${this.issuer}/test/alter?how=${encodeURIComponent(how)}`, { method: "POST" });
    if (answer.status !== 200) throw new Error(`${how}: ${answer.status} ${await answer.text()}`);
    await answer.body?.cancel();
  }

  /** Ends it, and removes its files. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    Deno.removeSync(this.#directory, { recursive: true });
  }
}

/** An answer that a browser has come to. */
export interface Arrival {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Maximum number of redirects. */
const MAX_STEPS = 20;

/** A browser that keeps cookies and follows redirects. */
export class BareBrowser {
  /** The cookies by name: all servers are of one host. */
  readonly cookies = new Map<string, string>();

  /**
   * Goes to an address, and on to where its answers lead.
   * @param stopAt Addresses that begin so are not gone to: the answer is the one that leads there.
   */
  async go(url: string, { form, stopAt, accept = "text/html" }: {
    readonly form?: Readonly<Record<string, string>>;
    readonly stopAt?: string;
    readonly accept?: string;
  } = {}): Promise<Arrival> {
    let here = url, body = form;
    for (let step = 0; step < MAX_STEPS; step++) {
      const response = await fetch(here, {
        method: body === undefined ? "GET" : "POST",
        body: body === undefined ? null : new URLSearchParams(body),
        headers: { Accept: accept, Cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
        redirect: "manual",
      });
      const text = await response.text();
      this.#keep(response.headers.getSetCookie());
      const { status, headers } = response, location = headers.get("location");
      const arrival = { url: here, status, headers, text };
      if (location === null || status < 300 || status > 399) return arrival;
      const next = new URL(location, here).href;
      if (stopAt !== undefined && next.startsWith(stopAt)) return { ...arrival, url: next };
      here = next;
      body = undefined;
    }
    throw new Error(`more than ${MAX_STEPS} redirects, the last to ${here}`);
  }

  /**
   * Logs in at the provider.
   * @param beginning The address that leads there.
   * @param callback The address that it leads back to.
   * @returns That address, with what the provider adds; it was not gone to.
   */
  async logIn(name: string, { beginning, callback }: {
    readonly beginning: string;
    readonly callback: string;
  }): Promise<string> {
    let arrival = await this.go(beginning, { stopAt: callback });
    // Its pages: who one is, and whether the client may know it.
    const forms: Record<string, string>[] = [{ prompt: "login", login: name, password: "any" }, { prompt: "consent" }];
    for (const form of forms) {
      if (arrival.url.startsWith(callback)) break;
      const action = /<form[^>]* action="([^"]+)"/.exec(arrival.text)?.[1];
      if (action === undefined) throw new Error(`${arrival.url} is no form: ${arrival.status} ${arrival.text}`);
      arrival = await this.go(action, { form, stopAt: callback });
    }
    if (!arrival.url.startsWith(callback)) throw new Error(`the log-in ends at ${arrival.url}: ${arrival.text}`);
    return arrival.url;
  }

  #keep(lines: readonly string[]): void {
    for (const line of lines) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (name === undefined) continue;
      if (value === "" || /; *max-age=0/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}
