/**
 * Lines of keys of ssh: authorized keys, known hosts, their fingerprints. Works on texts; knows no paths.
 * Source: Salt 3008.3, `salt/modules/ssh.py`; sshd(8), "AUTHORIZED_KEYS FILE FORMAT".
 * @module
 */

import { CommandError } from "#lib/errors.ts";

/** What is known of a public key. */
export interface AuthorizedKey {
  readonly enc: string;
  readonly comment: string;
  readonly options: readonly string[];
  /** The digest of the key, pairs of hexadecimal digits. */
  readonly fingerprint: string;
}

/** Makes the fingerprint of a key; `undefined` for one that is not base64. */
export type Fingerprint = (key: string) => string | undefined;

/**
 * A line of a key: what precedes it, and its type with everything behind. A user may have written the file: no
 * expression that looks at a line from each of its characters.
 */
function splitKeyLine(line: string): readonly [options: string, key: string] | undefined {
  for (const { 0: word, index } of line.matchAll(/(?<![\w@.-])[\w@.-]+(?=\s.)/g)) {
    const at = word.search(/(?:sk-)?(?:ssh-|ecds)[\w@.-]/);
    if (at >= 0) return [line.slice(0, index + at).replace(/\s$/, ""), line.slice(index + at)];
  }
  return undefined;
}

function keyLines(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

/** The keys in a file of authorized keys, by the key itself. */
export function parseAuthorizedKeys(text: string, fingerprintOf: Fingerprint): Map<string, AuthorizedKey> {
  const keys = new Map<string, AuthorizedKey>();
  for (const line of keyLines(text)) {
    const parts = line.startsWith("#") ? undefined : splitKeyLine(line);
    const [enc, key, ...comment] = parts?.[1].split(/\s+/) ?? [];
    const fingerprint = key === undefined ? undefined : fingerprintOf(key);
    if (parts === undefined || fingerprint === undefined) continue;
    keys.set(key, {
      enc,
      comment: comment.join(" "),
      options: parts[0] === "" ? [] : parts[0].split(","),
      fingerprint,
    });
  }
  return keys;
}

/** The line of a key. */
export function formatKey(
  key: string,
  { enc, comment, options }: { readonly enc: string; readonly comment: string; readonly options: readonly string[] },
): string {
  return `${options.length > 0 ? `${options.join(",")} ` : ""}${enc} ${key} ${comment}\n`;
}

/** The key of a line: what follows the last word that is a type, else the first word that ends in one. */
function replaceableKey(line: string): string | undefined {
  const words = line.split(/\s/);
  const keys = words.map((word, i) => {
    const type = /(?<![a-z0-9@.-])[a-z0-9@.-]+$/.exec(word)?.[0] ?? "";
    if (!/(?:ssh|ecdsa)-[a-z0-9@.-]/.test(type)) return undefined;
    const key = /^[a-zA-Z0-9+/]+={0,2}/.exec(words[i + 1] ?? "")?.[0];
    return key === undefined ? undefined : { key, whole: /^(?:sk-)?(?:ssh|ecdsa)-[a-z0-9@.-]+$/.test(word) };
  }).filter((found) => found !== undefined);
  return (keys.findLast(({ whole }) => whole) ?? keys[0])?.key;
}

/** The text with `line` in place of those that have the key; empty lines are left out. */
export function replaceKey(text: string, key: string, line: string): string {
  return keyLines(text).map((old) => !old.startsWith("#") && replaceableKey(old) === key ? line : `${old}\n`)
    .join("");
}

/** The text without a key; lines that are not keys are left out, comments stay. */
export function removeKey(text: string, key: string): string {
  return keyLines(text).flatMap((line) => {
    if (line.startsWith("#")) return [`${line}\n`];
    const words = splitKeyLine(line)?.[1].split(/\s+/);
    return words === undefined || words[1] === key ? [] : [`${line}\n`];
  }).join("");
}

/** A line of a file of known hosts. */
export interface KnownHost {
  readonly hostname: string;
  readonly key: string;
  readonly enc: string;
  readonly fingerprint: string;
}

/** The entries in the output of `ssh-keygen -F` and `ssh-keyscan`. */
export function parseKnownHosts(output: string, fingerprintOf: Fingerprint): KnownHost[] {
  return keyLines(output).flatMap((line) => {
    const words = line.split(/\s+/);
    const fingerprint = line.startsWith("#") || words.length !== 3 ? undefined : fingerprintOf(words[2]);
    return fingerprint === undefined ? [] : [{ hostname: words[0], key: words[2], enc: words[1], fingerprint }];
  });
}

/**
 * The numbers of the lines that `ssh-keygen -F` found, from 1 on.
 * @param enc Only keys of this type; `null` for all.
 */
export function foundLines(output: string, enc: string | null): number[] {
  const lines = output.split("\n").filter((line) => line !== "");
  const numbers: number[] = [];
  for (let i = 0; i + 1 < lines.length; i += 2) {
    const number = Number(lines[i].trim().split(/\s+/).at(-1));
    if (Number.isInteger(number) && (enc === null || lines[i + 1].trim().split(/\s+/).at(-2) === enc)) {
      numbers.push(number);
    }
  }
  return numbers;
}

const SHORT_TYPES: readonly (readonly [names: readonly string[], type: string])[] = [
  [["r", "rsa"], "ssh-rsa"],
  [["d", "dsa", "dss"], "ssh-dss"],
  [["e", "ecdsa"], "ecdsa-sha2-nistp256"],
  [["ed25519"], "ssh-ed25519"],
];

const TYPES = [
  "ssh-rsa",
  "ssh-dss",
  "ecdsa-sha2-nistp521",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp256",
  "ssh-ed25519",
  "rsa-sha2-512",
  "rsa-sha2-256",
  "rsa-sha2-512-cert-v01@openssh.com",
  "rsa-sha2-256-cert-v01@openssh.com",
  "ssh-rsa-cert-v01@openssh.com",
  "ecdsa-sha2-nistp256-cert-v01@openssh.com",
  "ecdsa-sha2-nistp384-cert-v01@openssh.com",
  "ecdsa-sha2-nistp521-cert-v01@openssh.com",
  "sk-ecdsa-sha2-nistp256@openssh.com",
  "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com",
  "ssh-ed25519-cert-v01@openssh.com",
  "sk-ssh-ed25519@openssh.com",
  "sk-ssh-ed25519-cert-v01@openssh.com",
];

/**
 * The full name of a key's type.
 * @throws {CommandError} If it is none.
 */
export function keyType(enc: string): string {
  const full = SHORT_TYPES.find(([names]) => names.includes(enc))?.[1] ?? enc;
  if (!TYPES.includes(full)) throw new CommandError(`Incorrect encryption key type '${enc}'.`);
  return full;
}

/**
 * The path of a user's file of keys, with sshd's tokens `%u`, `%h` and `%%` replaced.
 * @throws {CommandError} For others.
 */
export function expandTokens(path: string, { user, home }: { readonly user: string; readonly home: string }): string {
  const tokens: Readonly<Record<string, string>> = { "%": "%", u: user, h: home };
  return path.replace(/%(.?)/gs, (_all, token: string) => {
    if (token === "") throw new CommandError("AuthorizedKeysFile path: Last character can't be escape character");
    if (!Object.hasOwn(tokens, token)) {
      throw new CommandError(`AuthorizedKeysFile path: unknown token character "%${token}"`);
    }
    return tokens[token];
  });
}
