/**
 * The program of a provider of OpenID Connect: `oidc-provider` of npm on loopback, which lets everybody in who types a
 * name. Its first argument is an {@linkcode OidcProgramOptions} as JSON.
 *
 * `POST /test/alter` with the name of an {@linkcode Alteration} makes the answers of the token endpoint wrong from then
 * on, signed with the provider's own key where the alteration is not one of the signature.
 * @module
 */

import { createServer } from "node:http";
import { Provider } from "oidc-provider";
import { type Alteration, ALTERATIONS, type OidcProgramOptions } from "./oidc_options.ts";

const text = new TextEncoder();
const RS256 = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

/** A key pair, and its public half as it is published. */
interface SigningKey {
  readonly kid: string;
  readonly pair: CryptoKeyPair;
  readonly published: Record<string, unknown>;
}

async function newKey(kid: string): Promise<SigningKey> {
  const algorithm = { ...RS256, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
  const pair = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const { kty, n, e } = await crypto.subtle.exportKey("jwk", pair.publicKey);
  return { kid, pair, published: { kty, n, e, kid, alg: "RS256", use: "sig" } };
}

function part(value: unknown): string {
  return text.encode(JSON.stringify(value)).toBase64({ alphabet: "base64url", omitPadding: true });
}

async function signed(header: unknown, claims: unknown, key: CryptoKey, algorithm: string | Algorithm = RS256) {
  const body = `${part(header)}.${part(claims)}`;
  const signature = new Uint8Array(await crypto.subtle.sign(algorithm, key, text.encode(body)));
  return `${body}.${signature.toBase64({ alphabet: "base64url", omitPadding: true })}`;
}

/** The ID token `token`, made wrong. */
async function altered(token: string, how: Alteration, keys: Keys, secret: string): Promise<string> {
  const [head, body, signature] = token.split(".");
  const claims = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(body, { alphabet: "base64url" })));
  const { own, next, foreign } = keys;
  const withOwn = (changed: Record<string, unknown>) =>
    signed({ alg: "RS256", kid: own.kid }, { ...claims, ...changed }, own.pair.privateKey);
  const now = Math.floor(Date.now() / 1000);
  switch (how) {
    case "nothing":
      return token;
    case "alg none":
      return `${part({ alg: "none" })}.${body}.`;
    case "alg HS256": {
      const key = await crypto.subtle.importKey("raw", text.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, [
        "sign",
      ]);
      return await signed({ alg: "HS256" }, claims, key, "HMAC");
    }
    case "another nonce":
      return await withOwn({ nonce: "of-another-log-in" });
    case "another audience":
      return await withOwn({ aud: "another-client" });
    case "another issuer":
      return await withOwn({ iss: "https://id.example" });
    case "expired":
      return await withOwn({ iat: now - 7200, exp: now - 3600 });
    case "another key":
      return await signed({ alg: "RS256", kid: own.kid }, claims, foreign.pair.privateKey);
    case "another user":
      return [head, part({ ...claims, sub: "root", preferred_username: "root" }), signature].join(".");
    case "a new key":
      return await signed({ alg: "RS256", kid: next.kid }, claims, next.pair.privateKey);
  }
}

/** The keys: the provider's, the one that it changes to, and one that is not its own. */
interface Keys {
  readonly own: SigningKey;
  readonly next: SigningKey;
  readonly foreign: SigningKey;
}

const options: OidcProgramOptions = JSON.parse(Deno.args[0]);
const { port, clientId, secret, redirectUri, groups } = options;
const keys: Keys = { own: await newKey("first"), next: await newKey("second"), foreign: await newKey("first") };
const account = (id: string) => ({ sub: id, preferred_username: id, groups: groups[id] ?? [] });
// Without what WebCrypto adds: the provider publishes it, and a key for signing alone checks nothing.
const { ext: _ext, key_ops: _ops, ...privateKey } = await crypto.subtle.exportKey("jwk", keys.own.pair.privateKey);
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: clientId, client_secret: secret, redirect_uris: [redirectUri] }],
  claims: { openid: ["sub"], profile: ["preferred_username", "groups"] },
  jwks: { keys: [{ ...privateKey, kid: "first", use: "sig", alg: "RS256" }] },
  cookies: { keys: ["for tests"] },
  pkce: { required: () => true },
  findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => account(id) }),
});

let alteration: Alteration = "nothing";
interface Context {
  readonly path: string;
  readonly method: string;
  readonly query: Record<string, string>;
  status: number;
  body: Record<string, unknown>;
}
provider.use(async (context: Context, next: () => Promise<void>) => {
  if (context.path === "/test/alter") {
    alteration = ALTERATIONS.find((name) => name === context.query.how) ?? "nothing";
    context.status = 200;
    context.body = { alteration };
    return;
  }
  await next();
  if (context.path === "/jwks" && alteration === "a new key") context.body = { keys: [keys.next.published] };
  const { id_token } = context.path === "/token" ? context.body : {};
  if (typeof id_token !== "string") return;
  context.body = { ...context.body, id_token: await altered(id_token, alteration, keys, secret) };
});
createServer(provider.callback()).listen(port, "127.0.0.1");
