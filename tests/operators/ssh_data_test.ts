/**
 * Data of ssh that an agent, a file or `ssh-keygen` gives in another form than they should.
 * @module
 */

import { readOperatorLine } from "#lib/operators/authorized_operators.ts";
import { holdsFor, NAMESPACE, plainSignature, readSshsig } from "#lib/operators/job_signature.ts";
import { JobSigner } from "#lib/operators/job_signer.ts";
import { readKeyFile, signWithFile } from "#lib/operators/key_file.ts";
import { SshAgent } from "#lib/operators/ssh_agent.ts";
import { sshNumber, sshString } from "#lib/operators/ssh_wire.ts";
import { CommandError, UsageError, WireError } from "#lib/errors.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { TestOperator, withoutOpenSsh } from "#tests/support/fleet/operator.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const KEY = joinBytes([sshString("ssh-ed25519"), sshString(new Uint8Array(32))]);
const RSA = joinBytes([sshString("ssh-rsa"), sshString(new Uint8Array(32))]);
const SHORT = joinBytes([sshString("ssh-ed25519"), sshString(new Uint8Array(31))]);
const SIGNATURE = joinBytes([sshString("ssh-ed25519"), sshString(new Uint8Array(64).fill(7))]);

/** An output of `ssh-keygen -Y sign` with other parts than it has. */
function sshsig(
  { version = 1, key = KEY, namespace = NAMESPACE, reserved = "", hash = "sha512", signature = SIGNATURE } = {},
): string {
  const parts = [sshNumber(version), ...[key, namespace, reserved, hash, signature].map(sshString)];
  const armored = joinBytes([new TextEncoder().encode("SSHSIG"), ...parts]).toBase64();
  return `-----BEGIN SSH SIGNATURE-----\n${armored}\n-----END SSH SIGNATURE-----\n`;
}

Deno.test("what ssh-keygen writes is a signature only if each part of it is as it must be", () => {
  assertEquals(readSshsig(sshsig()).signature, new Uint8Array(64).fill(7));
  const cases: readonly (readonly [string, string])[] = [
    ["Signing file - with key", "there is no signature"],
    [sshsig().replace("U1NI", "U1N="), "there is no signature"],
    [sshsig({ version: 2 }), "unknown version"],
    [sshsig({ key: RSA }), "the key is no Ed25519 key"],
    [sshsig({ key: SHORT }), "an Ed25519 key of another length"],
    [sshsig({ namespace: "git" }), "another purpose"],
    [sshsig({ reserved: "x" }), "another digest"],
    [sshsig({ hash: "sha256" }), "another digest"],
    [sshsig({ signature: joinBytes([sshString("ssh-rsa"), sshString(new Uint8Array(64))]) }), "of the kind ssh-rsa"],
    [sshsig({ signature: SIGNATURE.subarray(0, -1) }), "end too early"],
  ];
  for (const [output, why] of cases) assertThrows(() => readSshsig(output), WireError, why, output);
  assertThrows(
    () => plainSignature(joinBytes([sshString("ssh-ed25519"), sshString("short")])),
    WireError,
    "of the kind",
  );
  const { key } = readSshsig(sshsig());
  assert(!holdsFor(key, new Uint8Array(), new Uint8Array(63)), "a signature of 63 bytes");
});

Deno.test("a line of operators_dir whose key or time cannot be read is no key, and says why", () => {
  const line = (blob: Uint8Array) => `ssh-ed25519 ${blob.toBase64()} alice`;
  const cases: readonly (readonly [string, string])[] = [
    [line(RSA), "the key is of another kind than ssh-ed25519"],
    [line(SHORT), "the key cannot be read: an Ed25519 key of another length"],
    [line(joinBytes([KEY, new Uint8Array(1)])), "the key cannot be read: an Ed25519 key of another length"],
    [line(KEY.subarray(0, 40)), "the key cannot be read: the data of ssh end too early"],
    ["ssh-ed25519 AAAAC", "the key cannot be read: "],
    [`expires="2027-02-31" ${line(KEY)}`, "the time 2027-02-31 cannot be read"],
    [`expires="20270431" ${line(KEY)}`, "the time 20270431 cannot be read"],
    [`expires="202701316100" ${line(KEY)}`, "the time 202701316100 cannot be read"],
  ];
  for (const [text, why] of cases) assertStringIncludes(String(readOperatorLine(text)), why);
  const times = ["2027-01-31", "2027-01-31T12:30Z", "2027-01-31T12:30:59Z", "20270131123059Z"].map((expires) => {
    const operator = readOperatorLine(`expires="${expires}" ${line(KEY)}`);
    return typeof operator === "object" ? new Date(operator.expiresMs ?? 0).toISOString() : operator;
  });
  assertEquals(times, [
    "2027-01-31T00:00:00.000Z",
    "2027-01-31T12:30:00.000Z",
    "2027-01-31T12:30:59.000Z",
    "2027-01-31T12:30:59.000Z",
  ]);
});

Deno.test("a key file that is none, or of another kind, is refused with its path", () =>
  withTemporaryDirectory((directory) => {
    const path = `${directory}/operator_key`;
    assertEquals(readKeyFile(path), undefined);
    const pem = (bytes: string) => `-----BEGIN OPENSSH PRIVATE KEY-----\n${bytes}\n-----END OPENSSH PRIVATE KEY-----\n`;
    const head = (cipher: string, key: Uint8Array) =>
      joinBytes([
        new TextEncoder().encode("openssh-key-v1\0"),
        ...[cipher, "none", ""].map(sshString),
        sshNumber(1),
        sshString(key),
      ]).toBase64();
    const cases: readonly (readonly [string, string])[] = [
      ["-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n", "is no private key of OpenSSH"],
      [pem("AAAAA"), "is no private key of OpenSSH"],
      [pem("AAAA"), "is no private key of OpenSSH"],
      [pem(head("aes256-ctr", SHORT)), "is no private key of OpenSSH"],
      [pem(head("aes256-ctr", RSA)), "is no Ed25519 key"],
      [pem(head("none", KEY)), "is not encrypted"],
    ];
    for (const [text, why] of cases) {
      Deno.writeTextFileSync(path, text);
      assertThrows(() => readKeyFile(path), UsageError, `${path} ${why}`);
    }
  }));

Deno.test({
  name: "a key file needs ssh-keygen, and a terminal for its passphrase",
  ignore: withoutOpenSsh !== undefined,
  fn: async () => {
    await using operator = await TestOperator.withFile("correct horse");
    const path = `${operator.directory}/config/salt/operator_key`;
    await assertRejects(() => JobSigner.open(""), UsageError, `The passphrase of ${path} cannot be asked`);
    const file = readKeyFile(path);
    assert(file !== undefined);
    const by = class extends Deno.Command {
      override spawn(): Deno.ChildProcess {
        throw new Deno.errors.NotFound("No such file or directory (os error 2)");
      }
    };
    await withReplaced(
      Deno,
      { name: "Command", by },
      () => assertRejects(() => signWithFile(file, new Uint8Array(), "x"), CommandError, "There is no ssh-keygen"),
    );
  },
});

Deno.test("an agent that does not answer as one does is told in one sentence", () =>
  withTemporaryDirectory(async (directory) => {
    const path = `${directory}/agent`, told = `ssh-agent at ${path} (SSH_AUTH_SOCK) cannot be asked: `;
    await assertRejects(() => SshAgent.connect(path), CommandError, told);
    using listener = Deno.listen({ transport: "unix", path });
    /** An agent that gives this answer to whatever it is asked, in two parts, and hangs up. */
    const asked = async (answer: Uint8Array, ask: (agent: SshAgent) => Promise<unknown>): Promise<unknown> => {
      const [agent, connection] = await Promise.all([SshAgent.connect(path), listener.accept()]);
      using _both = connection;
      const answered = ask(agent).then((value) => value, (error: unknown) => error);
      await connection.read(new Uint8Array(1024));
      const half = answer.length >> 1;
      for (const part of [answer.subarray(0, half), answer.subarray(half)]) await connection.write(part);
      await connection.closeWrite();
      const value = await answered;
      agent[Symbol.dispose]();
      return value;
    };
    const keys = (agent: SshAgent) => agent.keys();
    const sign = (agent: SshAgent) => agent.sign({ blob: KEY, fingerprint: "" }, new Uint8Array(1));
    const message = (kind: number, ...parts: Uint8Array[]) => sshString(joinBytes([new Uint8Array([kind]), ...parts]));
    const held = [RSA, KEY].flatMap((key) => [sshString(key), sshString("comment")]);
    assertEquals(await asked(message(12, sshNumber(2), ...held), keys), [readSshsig(sshsig()).key]);
    assertEquals(await asked(message(14, sshString(SIGNATURE)), sign), new Uint8Array(64).fill(7));
    const cases: readonly (readonly [string, Uint8Array, typeof keys | typeof sign, string])[] = [
      ["a refusal", message(5), sign, "ssh-agent refused: does it hold the key"],
      ["no bytes", sshNumber(0), keys, `${told}an answer of 0 bytes`],
      ["too many bytes", sshNumber((1 << 20) + 1), keys, `${told}an answer of 1048577 bytes`],
      ["a cut answer", message(12, sshNumber(1)).subarray(0, -1), keys, `${told}it closed the connection`],
      ["fewer keys than it says", message(12, sshNumber(3), ...held), keys, `${told}the data of ssh end too early`],
      [
        "a key of another length",
        message(12, sshNumber(1), sshString(SHORT)),
        keys,
        `${told}an Ed25519 key of another`,
      ],
      ["another kind of signature", message(14, sshString(RSA)), sign, `${told}a signature of the kind ssh-rsa`],
    ];
    for (const [name, answer, ask, why] of cases) {
      const error = await asked(answer, ask);
      assert(error instanceof CommandError, `${name}: ${error}`);
      assertStringIncludes(error.message, why, name);
    }
  }));
