/**
 * `external_auth: oidc`: the options that say which provider of OpenID Connect knows the users. Their names begin with
 * `^`, as those of `file` and `rest`. Not in Salt.
 * @module
 */

import { checkOption, intOption, type Loaded, type Option, strOption } from "#lib/config/option_types.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { ConfigError } from "#lib/errors.ts";
import { didYouMean } from "#lib/text/nearest_name.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";

/** The name in `external_auth`. */
export const OIDC = "oidc";

/** The options, and their defaults. */
export const OIDC_OPTIONS = {
  "^issuer": strOption(null, "Address of the provider, exactly as it names itself; required."),
  "^client_id": strOption(null, "The name under which the provider knows this API; required."),
  "^client_secret_file": strOption(
    null,
    "File with the secret of that client. A public client has none: PKCE protects it.",
  ),
  "^redirect_uri": strOption(
    null,
    "Address of /login/oidc/callback as browsers see it, and as the provider has it; required.",
  ),
  "^scope": strOption("openid profile email", "What the provider is asked for; some need `groups` in it."),
  "^user_claim": strOption(
    "sub",
    "The claim that is the user's name: one that nobody can choose, and that is never given to another.",
  ),
  "^groups_claim": strOption("groups", "The claim with the user's groups: a list of texts, or one text."),
  "^ca_file": strOption(
    null,
    "File of the authorities (PEM) that the provider's certificate may be of, besides usual ones.",
  ),
  "^session_hours": intOption(
    null,
    "Hours after which a session ends. Without it, it ends when the ID token of the provider does.",
    { min: 1, max: 720 },
  ),
  "^title": strOption("single sign-on", "What the button of the console names."),
};

/** The checked options; what is required is there. */
export interface OidcSettings {
  /** As it was written: compared with what the provider says of itself. */
  readonly issuer: string;
  readonly clientId: string;
  readonly secretFile: string | null;
  readonly redirectUri: string;
  readonly scope: string;
  readonly userClaim: string;
  readonly groupsClaim: string;
  readonly caFile: string | null;
  readonly sessionS: number | null;
  readonly title: string;
}

/** The path that `^redirect_uri` ends with. */
const CALLBACK = "/login/oidc/callback";

/**
 * The provider; `undefined`: `external_auth` has no `oidc`, or one without any of these options, which is a module of
 * the operator's own.
 * @throws {ConfigError} With a sentence that says what to write.
 */
export function oidcSettings({ external_auth }: Pick<MasterOpts, "external_auth">): OidcSettings | undefined {
  const section = mapOrEmpty(external_auth.get(OIDC));
  const given = [...section.keys()].filter((name): name is string => typeof name === "string" && name.startsWith("^"));
  if (given.length === 0) return undefined;
  const unknown = given.find((name) => !Object.hasOwn(OIDC_OPTIONS, name));
  if (unknown !== undefined) {
    throw bad(`there is no option ${unknown}${didYouMean(unknown, Object.keys(OIDC_OPTIONS))}`);
  }
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries<Option>(OIDC_OPTIONS)) {
    const checked = section.has(name) ? checkOption(option, section.get(name) ?? null) : { value: option.default };
    if ("problem" in checked) throw bad(`${name} ${checked.problem}`);
    values[name] = checked.value;
  }
  // The loop above has set every name of the table to a value of its type.
  const read = values as Loaded<typeof OIDC_OPTIONS>;
  const redirectUri = checkedUrl("^redirect_uri", read["^redirect_uri"]);
  if (!new URL(redirectUri).pathname.endsWith(CALLBACK)) throw bad(`^redirect_uri must end with ${CALLBACK}`);
  const scope = read["^scope"];
  if (!scope.split(" ").includes("openid")) throw bad("^scope must have the word openid");
  const hours = read["^session_hours"];
  return {
    issuer: checkedUrl("^issuer", read["^issuer"]),
    clientId: required("^client_id", read["^client_id"]),
    secretFile: read["^client_secret_file"],
    redirectUri,
    scope,
    userClaim: read["^user_claim"],
    groupsClaim: read["^groups_claim"],
    caFile: read["^ca_file"],
    sessionS: hours === null ? null : hours * 3600,
    title: read["^title"],
  };
}

/** @throws {ConfigError} If it is no address over TLS: what is sent there is as good as a password. */
function checkedUrl(name: string, text: string | null): string {
  const url = URL.parse(required(name, text));
  if (url === null || url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") {
    throw bad(`${name} must be an address without a query: https://id.example/realm`);
  }
  if (url.protocol !== "https:" && !isLocalUrl(url)) {
    throw bad(`${name} must begin with https, on other hosts than this`);
  }
  return required(name, text);
}

/** Whether an address is plain HTTP to this host, as providers for tests have it. */
export function isLocalUrl({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && (hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname));
}

function required(name: string, text: string | null): string {
  if (text === null || text === "") throw bad(`${name} is required`);
  return text;
}

function bad(problem: string): ConfigError {
  return new ConfigError(`oidc: ${problem}`, { option: "external_auth" });
}
