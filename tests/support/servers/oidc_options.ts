/**
 * What a provider of OpenID Connect for tests is told, by the test that starts it.
 * @module
 */

/** What is wrong with the provider's answers. */
export const ALTERATIONS = [
  "nothing",
  "alg none",
  "alg HS256",
  "another nonce",
  "another audience",
  "another issuer",
  "expired",
  "another key",
  "another user",
  "a new key",
] as const;

/** One of them. */
export type Alteration = typeof ALTERATIONS[number];

/** What the provider's program gets. */
export interface OidcProgramOptions {
  readonly port: number;
  readonly clientId: string;
  readonly secret: string;
  readonly redirectUri: string;
  /** The groups of users; others have none. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
}
