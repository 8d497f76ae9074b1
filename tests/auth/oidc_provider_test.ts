/**
 * What a provider of OpenID Connect is asked, and what of its answers is taken, before a browser is sent there. Its
 * answers are scripted; tests/api has a real provider.
 */

import { OidcRefusedError } from "#lib/auth/oidc_claims.ts";
import { OidcAwayError, OidcProvider, type OidcUser } from "#lib/auth/oidc_provider.ts";
import { oidcSettings } from "#lib/auth/oidc_settings.ts";
import { map, toValue } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { withReplaced } from "#tests/support/replaced.ts";

const ISSUER = "https://id.example/ops";

function providerOf(issuer = ISSUER, options: Readonly<Record<string, string>> = {}): OidcProvider {
  const redirect = "https://salt.example/login/oidc/callback";
  const oidc = { "^issuer": issuer, "^client_id": "salt", "^redirect_uri": redirect, ...options };
  const settings = oidcSettings({ external_auth: map({ oidc: toValue(oidc) }) });
  assert(settings !== undefined);
  return new OidcProvider(settings);
}

/** Runs `act` while each request is answered by `answer`; gives how they were made. */
async function answering(
  answer: (init: RequestInit) => Response | Promise<Response>,
  act: () => Promise<void>,
): Promise<RequestInit[]> {
  const seen: RequestInit[] = [];
  const by = async (_url: unknown, init: RequestInit = {}) => {
    seen.push(init);
    return await answer(init);
  };
  await withReplaced(globalThis, { name: "fetch", by: by as typeof fetch }, act);
  return seen;
}

/** What a provider says of itself. */
const says = (fields: Readonly<Record<string, string>>, issuer = ISSUER) =>
  Response.json({ issuer, authorization_endpoint: `${ISSUER}/authorize`, ...fields });

Deno.test("a browser is sent to an endpoint over TLS, or on this host if the provider is there too", async () => {
  const local = "http://127.0.0.1:8080/ops", plain = "http://127.0.0.1:8080/authorize";
  const begin = async (endpoint: string, issuer = ISSUER) => {
    let url = "";
    await answering(() => says({ authorization_endpoint: endpoint }, issuer), async () => {
      url = (await providerOf(issuer).begin()).url;
    });
    return url;
  };
  assert((await begin("https://other.example/authorize")).startsWith("https://other.example/authorize?response_type="));
  assert((await begin(plain, local)).startsWith(`${plain}?`));
  const wrong = [["http://id.example/authorize"], ["http://id.example/authorize", local], [plain], ["javascript:1"], [
    "x",
  ]];
  for (const [endpoint, issuer] of wrong) {
    await assertRejects(() => begin(endpoint, issuer), OidcAwayError, "no authorization endpoint", endpoint);
  }
});

Deno.test("each log-in has secrets of its own, and its address has none but by their hashes", async () => {
  await answering(() => says({}), async () => {
    const provider = providerOf(), [one, two] = [await provider.begin(), await provider.begin()];
    const { searchParams } = new URL(one.url);
    assertEquals([searchParams.get("state"), searchParams.get("nonce")], [one.secrets.state, one.secrets.nonce]);
    assertEquals(searchParams.get("code_challenge_method"), "S256");
    assert(!one.url.includes(one.secrets.verifier));
    const all = [one, two].flatMap(({ secrets: { state, nonce, verifier } }) => [state, nonce, verifier]);
    assertEquals(new Set(all).size, 6);
    assert(all.every((secret) => secret.length >= 43), all.join(" "));
  });
});

Deno.test("what a provider has is asked once in ten minutes, and again at once after a failure", async () => {
  let nowMs = 1_000, status = 200;
  await withReplaced(performance, { name: "now", by: () => nowMs }, async () => {
    const provider = providerOf();
    const seen = await answering(() => status === 200 ? says({}) : new Response("", { status }), async () => {
      await provider.begin();
      nowMs += 599_999;
      await provider.begin();
      nowMs += 1;
      status = 503;
      const error = await assertRejects(() => provider.begin(), OidcAwayError);
      assertEquals(error.message, "the provider answers /ops/.well-known/openid-configuration with 503");
      status = 200;
      await provider.begin();
    });
    assertEquals(seen.length, 3);
    // The secret and the code must not go to another server.
    assertEquals(seen.map(({ redirect }) => redirect), Array(3).fill("manual"));
  });
});

Deno.test("a provider that does not answer is given up after ten seconds", async () => {
  const { timeout } = AbortSignal;
  const asked: number[] = [];
  const by = (ms: number) => {
    asked.push(ms);
    return timeout.call(AbortSignal, 20);
  };
  const silent = ({ signal }: RequestInit) =>
    new Promise<Response>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  await withReplaced(AbortSignal, { name: "timeout", by }, async () => {
    await answering(silent, async () => {
      await assertRejects(
        () => providerOf().begin(),
        OidcAwayError,
        "the provider does not answer /ops/.well-known/openid-configuration: ",
      );
    });
  });
  assertEquals(asked, [10_000]);
});

Deno.test("a provider that names itself otherwise, or answers with a page, cannot be used", async () => {
  const answers = [
    () => says({}, "https://other.example"),
    () => new Response("<html>", { headers: { "content-type": "text/html" } }),
    () => new Response(null, { status: 302, headers: { location: "https://other.example" } }),
  ];
  for (const answer of answers) {
    await answering(answer, async () => {
      await assertRejects(() => providerOf().begin(), OidcAwayError, "what the provider says of itself cannot be used");
    });
  }
});

const RSA = {
  name: "RSASSA-PKCS1-v1_5",
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: "SHA-256",
};
const [own, stranger] = await Promise.all(
  [0, 1].map(() => crypto.subtle.generateKey(RSA, true, ["sign", "verify"])),
);
const base64url = (bytes: Uint8Array) => bytes.toBase64({ alphabet: "base64url", omitPadding: true });
const part = (value: unknown) => base64url(new TextEncoder().encode(JSON.stringify(value)));
const nowS = Math.floor(Date.now() / 1000);

/** How a provider ends a log-in, where it differs from a good end. */
interface End {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly signer?: CryptoKeyPair;
  /** Its answer to the code. */
  readonly token?: () => Response;
  /** A field of its key. */
  readonly n?: string;
  readonly callback?: Readonly<Record<string, string>>;
  /** What its endpoint for users says; without it, it has none. */
  readonly userinfo?: Readonly<Record<string, unknown>>;
  /** Options of `external_auth: oidc`. */
  readonly options?: Readonly<Record<string, string>>;
}

/** Logs in at a scripted provider; gives the user, and how often its keys were asked. */
async function logIn(
  { claims, header, signer = own, token, n, callback, options, userinfo }: End,
): Promise<{ user: OidcUser; keys: number }> {
  let keys = 0, nonce = "";
  const idToken = async () => {
    const body = {
      iss: ISSUER,
      sub: "ann",
      aud: "salt",
      iat: nowS,
      exp: nowS + 600,
      nonce,
      groups: ["ops"],
      ...claims,
    };
    const signed = `${part({ alg: "RS256", kid: "k1", ...header })}.${part(body)}`;
    const sig = await crypto.subtle.sign(RSA.name, signer.privateKey, new TextEncoder().encode(signed));
    return `${signed}.${base64url(new Uint8Array(sig))}`;
  };
  const by = async (url: unknown, init: RequestInit = {}) => {
    const { pathname } = new URL(String(url));
    if (pathname.endsWith("/jwks")) {
      keys++;
      const jwk = await crypto.subtle.exportKey("jwk", own.publicKey);
      return Response.json({ keys: [{ ...jwk, kid: "k1", use: "sig", ...n !== undefined && { n } }] });
    }
    if (pathname.endsWith("/me")) {
      assertEquals(new Headers(init.headers).get("authorization"), "Bearer a");
      return Response.json(userinfo);
    }
    if (!pathname.endsWith("/token")) {
      const more: Record<string, string> = userinfo === undefined ? {} : { userinfo_endpoint: `${ISSUER}/me` };
      return says({ token_endpoint: `${ISSUER}/token`, jwks_uri: `${ISSUER}/jwks`, ...more });
    }
    return token?.() ?? Response.json({ access_token: "a", token_type: "bearer", id_token: await idToken() });
  };
  let user: OidcUser | undefined;
  await withReplaced(globalThis, { name: "fetch", by: by as typeof fetch }, async () => {
    const provider = providerOf(ISSUER, options), { secrets } = await provider.begin();
    nonce = secrets.nonce;
    const answer = new URLSearchParams({ code: "c", state: secrets.state, ...callback });
    try {
      user = await provider.identify(answer, secrets);
    } catch (error) {
      if (error instanceof OidcRefusedError) throw new Error(`${keys}: ${error.message}`, { cause: error });
      throw error;
    }
  });
  assert(user !== undefined);
  return { user, keys };
}

Deno.test("a log-in that ends well gives the user of the ID token", async () => {
  assertEquals(await logIn({}), { user: { name: "ann", groups: ["ops"], untilS: nowS + 600 }, keys: 1 });
});

Deno.test("groups that the ID token does not name come from the endpoint for users; what the token says goes before", async () => {
  const userinfo = { sub: "ann", groups: ["dev"], preferred_username: "other" };
  const groups = async (end: End) => (await logIn(end)).user.groups;
  assertEquals(await groups({ userinfo }), ["ops"]);
  const { user } = await logIn({ claims: { groups: undefined, preferred_username: "ann" }, userinfo });
  assertEquals([user.name, user.groups], ["ann", ["dev"]]);
  assertEquals(await groups({ claims: { groups: undefined } }), []);
  // Another user's.
  await assertRejects(
    () => groups({ claims: { groups: undefined }, userinfo: { ...userinfo, sub: "bob" } }),
    Error,
    "1: the provider's answer is not as it must be",
  );
});

Deno.test("the file of the secret is read at each log-in, and its lack is the operator's to mend", () =>
  withTemporaryDirectory(async (root) => {
    const file = `${root}/secret`, end = { options: { "^client_secret_file": file } };
    const away = async () => (await assertRejects(() => logIn(end), OidcAwayError)).message;
    assertEquals(
      await away(),
      `^client_secret_file cannot be read: No such file or directory (os error 2): readfile '${file}'`,
    );
    Deno.writeTextFileSync(file, "s3cret\n");
    assertEquals((await logIn(end)).user.name, "ann");
  }));

const challenge = new Response(null, { status: 401, headers: { "www-authenticate": 'Basic realm="x"' } });
const REFUSED: Readonly<Record<string, readonly [end: End, says: string]>> = {
  "the token of another log-in": [{ claims: { nonce: "other" } }, "0: the ID token is of another log-in, client or"],
  "the token of another client": [{ claims: { aud: "other" } }, "0: the ID token is of another log-in, client or"],
  "the token of another provider": [{ claims: { iss: "https://x.example" } }, "0: the ID token is of another log-in"],
  "a token that has expired": [{ claims: { exp: nowS - 600 } }, "0: the ID token has expired"],
  "a stranger's signature": [{ signer: stranger }, "1: the provider's answer is not as it must be"],
  "a key that it has not": [{ header: { kid: "k2" } }, "2: the provider has no key of this signature"],
  "a token without a signature": [{ header: { alg: "none" } }, "0: the provider's answer is not as it must be"],
  "a key that is none": [{ n: "*" }, "1: the provider's answer is not as it must be"],
  "a signature of a kind that is not taken": [
    { header: { alg: "XS1" } },
    "0: the provider's answer is not as it must be",
  ],
  "a code that it does not know": [
    { token: () => Response.json({ error: "invalid_grant" }, { status: 400 }) },
    "0: the provider does not take the code: invalid_grant",
  ],
  "an error in its own words": [
    { token: () => Response.json({ error: "<b>no</b>" }, { status: 400 }) },
    "0: the provider does not take the code: no reason is given",
  ],
  "a wrong secret": [{ token: () => challenge }, "0: the provider does not take ^client_id with the secret"],
  "a user who says no": [{ callback: { error: "access_denied" } }, "0: the provider has refused: access_denied"],
};
for (const [what, [end, says]] of Object.entries(REFUSED)) {
  Deno.test(`a log-in is refused for ${what}`, async () => {
    await assertRejects(() => logIn(end), Error, says);
  });
}
