/**
 * The operator's key in a file, `~/.config/salt/operator_key`: signatures by `ssh-keygen`, which decrypts it. Its
 * passphrase is asked once for a command, and reaches `ssh-keygen` in the environment of a helper of this user alone.
 * Source: ssh-keygen(1) `-Y sign`; ssh(1) SSH_ASKPASS.
 * @module
 */

import { base64Bytes } from "#lib/crypto/base64.ts";
import { CommandError, UsageError, WireError } from "#lib/errors.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { NAMESPACE, type OperatorKey, operatorKey, readSshsig } from "./job_signature.ts";
import { SshReader } from "./ssh_wire.ts";

const BEGIN = /-----BEGIN OPENSSH PRIVATE KEY-----\s([\sA-Za-z0-9+/=]+)-----END OPENSSH PRIVATE KEY-----/;
const MAGIC_BYTES = "openssh-key-v1\0".length;
/** Where the helper finds the passphrase. */
const PASSPHRASE = "SALT_OPERATOR_PASSPHRASE";
const HELPER = `#!/bin/sh\nprintf '%s\\n' "$${PASSPHRASE}"\n`;

/** The file of the calling user. */
export function operatorKeyPath(): string {
  return `${Deno.env.get("XDG_CONFIG_HOME") || `${Deno.env.get("HOME") ?? "/"}/.config`}/salt/operator_key`;
}

/** An encrypted key, as its file has it. */
export interface KeyFile {
  readonly key: OperatorKey;
  readonly text: string;
}

/**
 * Reads the file.
 * @returns `undefined` if there is no file.
 * @throws {UsageError} If it is no Ed25519 key of OpenSSH, or is not encrypted.
 */
export function readKeyFile(path: string): KeyFile | undefined {
  const text = readTextFileIfExists(path);
  if (text === undefined) return undefined;
  const { cipher, key } = readHead(base64Bytes(BEGIN.exec(text)?.[1]) ?? new Uint8Array(), path);
  if (key === undefined) throw new UsageError(`${path} is no Ed25519 key`);
  if (cipher === "none") {
    throw new UsageError(`${path} is not encrypted; give it a passphrase: ssh-keygen -p -f ${path}`);
  }
  return { key, text };
}

function readHead(bytes: Uint8Array, path: string): { readonly cipher: string; readonly key?: OperatorKey } {
  const reader = new SshReader(bytes);
  try {
    reader.bytes(MAGIC_BYTES);
    const cipher = reader.text();
    reader.string(); // how the passphrase becomes a key: the function,
    reader.string(); // and its options
    reader.number(); // of keys: one
    return { cipher, key: operatorKey(reader.string()) };
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new UsageError(`${path} is no private key of OpenSSH`);
  }
}

/**
 * Signs with the key of a file, which need not be readable any longer.
 * @returns The 64 bytes of the signature.
 * @throws {CommandError} If the passphrase is another one, or there is no `ssh-keygen`.
 */
export async function signWithFile({ text }: KeyFile, message: Uint8Array, passphrase: string): Promise<Uint8Array> {
  const directory = await Deno.makeTempDir({ prefix: "salt-sign-" });
  try {
    const helper = `${directory}/askpass`, path = `${directory}/operator_key`;
    await Deno.writeTextFile(path, text, { mode: 0o600 });
    await Deno.writeTextFile(helper, HELPER, { mode: 0o700 });
    const child = new Deno.Command("ssh-keygen", {
      args: ["-q", "-Y", "sign", "-n", NAMESPACE, "-f", path],
      env: { SSH_ASKPASS: helper, SSH_ASKPASS_REQUIRE: "force", DISPLAY: ":", [PASSPHRASE]: passphrase },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new Uint8Array(message));
    await writer.close();
    const { success, stdout, stderr } = await child.output();
    if (!success) throw new CommandError(`ssh-keygen: ${new TextDecoder().decode(stderr).trim()}`);
    return readSshsig(new TextDecoder().decode(stdout)).signature;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new CommandError("There is no ssh-keygen on this host, which a key file needs");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
