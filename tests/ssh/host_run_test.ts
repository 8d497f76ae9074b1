/** What is made of hosts that do what no host should, and of connections that end: `ssh` is a script here. */

import { loadMasterConfig } from "#lib/config/load.ts";
import { SshError } from "#lib/errors.ts";
import { makeKey, makeSshDirectory, SshConnection } from "#lib/ssh/connection.ts";
import { Executables, usualDirectory } from "#lib/ssh/executables.ts";
import { type HostRunOptions, runOnHost, runRaw } from "#lib/ssh/host_run.ts";
import { packHostMessage } from "#lib/ssh/messages.ts";
import { readRosterHost, type RosterHost } from "#lib/ssh/roster.ts";
import { frame } from "#lib/protocol/frames.ts";
import { createLogger } from "#lib/runtime/log.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { SearchPath } from "#tests/support/search_path.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** The connection tells that it is there; a session runs the script `session`, which knows the mark. */
const SSH = `#!/bin/sh
here=$(dirname "$0")
case " $* " in *" -M "*)
  printf '%s\\n' "$@" >"$here/words"
  printf '%s\\n%s\\n' "$SALT_SSH_KEY" "$SALT_SSH_PASSPHRASE" >"$here/asked"
  echo $$ >"$here/master"
  . "$here/connection"
  exec sleep 600 ;;
esac
for command; do :; done
mark=$(printf '%s' "$command" | grep -oE '[0-9a-f]{32}' | head -n 1)
say() { printf '\\n%s %s\\n' "$mark" "$*"; }
. "$here/session"
`;

/** Tells its machine, takes an executable whole, and has it nowhere. */
const FORGETFUL = `case $command in
  *"head -c"*) say send now; head -c "$(stat -c %s "$here/program")" >/dev/null; say done it ;;
  *) say need "$(uname -s)" "$(uname -m)" ;;
esac`;

/** One host, whose sessions and connection are scripts. */
class ScriptedHost {
  readonly directory: string;
  readonly warnings: string[] = [];
  /** The directory of the connections' sockets. */
  readonly #sockets = makeSshDirectory();
  readonly #path: SearchPath;

  constructor(directory: string, session: string, connection = "echo ready") {
    this.directory = directory;
    Deno.writeTextFileSync(`${directory}/ssh`, SSH, { mode: 0o755 });
    Deno.writeTextFileSync(`${directory}/program`, "#!/bin/sh\n", { mode: 0o755 });
    Deno.writeTextFileSync(`${directory}/session`, session);
    Deno.writeTextFileSync(`${directory}/connection`, connection);
    this.#path = new SearchPath(directory);
  }

  entry(keys: Readonly<Record<string, Value>> = {}): RosterHost {
    const { opts } = loadMasterConfig({ readsFiles: false, overrides: { root_dir: this.directory } });
    return readRosterHost("web1", map({ thin_dir: "/var/tmp/none/here", ...keys }), { opts, warn: () => {} });
  }

  options(more: Partial<HostRunOptions> = {}): HostRunOptions {
    const write = ({ message }: { readonly message: string }) => void this.warnings.push(message);
    return {
      place: {
        directory: this.#sockets,
        ignoreHostKeys: false,
        noHostKeys: true,
        signal: new AbortController().signal,
      },
      executables: new Executables(
        { ssh_executables: map({ [Deno.build.arch]: `${this.directory}/program` }) },
        this.directory,
      ),
      ...{ controlId: "abcdef", copiesAnew: false, wipes: false, randomDirectory: false, deployKey: false },
      forcesPreFlight: false,
      answer: () => Promise.resolve(null),
      log: createLogger([{ level: 30, write, close: () => {} }]),
      ...more,
    };
  }

  /** Runs a function there. */
  run(more: Partial<HostRunOptions> = {}, keys: Readonly<Record<string, Value>> = {}) {
    const call = { fun: "test.ping", arg: [], jid: "20260101000000000000", logLevel: 30, syncs: false };
    return runOnHost(this.entry(keys), call, this.options(more));
  }

  [Symbol.dispose](): void {
    this.#path[Symbol.dispose]();
    Deno.removeSync(this.#sockets, { recursive: true });
  }
}

Deno.test("a host that says what no host should is refused, with what it said", () =>
  withTemporaryDirectory(async (root) => {
    Deno.writeFileSync(`${root}/noise`, frame(1, new Uint8Array([0xc1])));
    Deno.writeFileSync(`${root}/failed`, packHostMessage({ what: "failed", message: "no memory" }));
    const cases: readonly (readonly [session: string, kind: string, text: string])[] = [
      ["say hello you", "protocol", "web1 sent an unknown word"],
      ["say fail /var is full", "deploy", "The executable is not on web1: /var is full"],
      [FORGETFUL, "deploy", "The executable is not in /var/tmp/none/here though it was copied"],
      ["say need Plan9 mips", "no executable", "There is no executable for Plan9 on mips"],
      [`say run now; cat ${root}/noise`, "protocol", "web1 sent what is no message"],
      [`say run now; cat ${root}/failed`, "deploy", "The function does not run on web1: no memory"],
    ];
    for (const [session, kind, text] of cases) {
      using host = new ScriptedHost(root, session);
      const error = await assertRejects(() => host.run(), SshError, text);
      assertEquals(error.kind, kind);
    }
  }));

Deno.test("a host that reads only a part of its executable is told with what it says", () =>
  withTemporaryDirectory(async (root) => {
    const session = `case $command in
  *"head -c"*) say send now; head -c 1000 >/dev/null; exec <&-; say fail no space left; sleep 0.1 ;;
  *) say need "$(uname -s)" "$(uname -m)" ;;
esac`;
    using host = new ScriptedHost(root, session);
    Deno.truncateSync(`${root}/program`, 4_000_000);
    const error = await assertRejects(() => host.run(), SshError, "The executable is not on web1: no space left");
    assertEquals(error.kind, "deploy");
  }));

Deno.test("a host of another machine that has its executable already gets no copy", () =>
  withTemporaryDirectory(async (root) => {
    const outcome = { what: "outcome", return: true, retcode: 0 } as const;
    Deno.writeFileSync(`${root}/outcome`, packHostMessage(outcome));
    const session = `sum=$(sha256sum <"$here/program" | cut -c 1-32)
case $command in
  *"head -c"*) say fail it was copied ;;
  *"$sum"*) say run now; cat ${root}/outcome ;;
  *) say need Linux armv7l ;;
esac`;
    using host = new ScriptedHost(root, session);
    // That of this host's own kind, which is tried first, cannot be read.
    const named = { armv7l: `${root}/program`, [Deno.build.arch]: `${root}/none` };
    const executables = new Executables({ ssh_executables: map(named) }, root);
    assertEquals(await host.run({ executables }), outcome);
  }));

Deno.test("what cannot be removed from a host is a warning: the function has its return", () =>
  withTemporaryDirectory(async (root) => {
    const outcome = { what: "outcome", return: true, retcode: 0 } as const;
    Deno.writeFileSync(`${root}/outcome`, packHostMessage(outcome));
    const session =
      `case $command in *salt-ssh-host*) say run now; cat ${root}/outcome ;; *) echo no such shell ;; esac`;
    using host = new ScriptedHost(root, session);
    assertEquals(await host.run({ wipes: true }), outcome);
    assertStringIncludes(host.warnings.join(), "web1: /var/tmp/none/here is not removed: ");
  }));

Deno.test("a connection that ends in a command or in the script before it is told as lost, with ssh's words", () =>
  withTemporaryDirectory(async (root) => {
    using host = new ScriptedHost(
      root,
      'kill "$(cat "$here/master")"; sleep 0.5; exit 255',
      "echo ready; echo gone >&2",
    );
    const lost = "The connection to web1 ended: gone";
    await assertRejects(() => runRaw(host.entry(), ["id"], host.options()), SshError, lost);
    const script = map({ ssh_pre_flight: `${root}/program` });
    await assertRejects(
      () => host.run({ forcesPreFlight: true }, Object.fromEntries(script)),
      SshError,
      lost,
    );
  }));

Deno.test("ssh gets the options of hosts whose keys are not checked, and the ports that it forwards", () =>
  withTemporaryDirectory(async (root) => {
    using host = new ScriptedHost(root, "");
    const entry = host.entry({ remote_port_forwards: "8080:localhost:80,9000:localhost:90", identities_only: true });
    (await SshConnection.open(entry, host.options().place))[Symbol.dispose]();
    // Without secrets ssh may ask for nothing.
    assertEquals(Deno.readTextFileSync(`${root}/asked`), "\n\n");
    const words = Deno.readTextFileSync(`${root}/words`).replaceAll("\n", " ");
    assertStringIncludes(words, "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null");
    assertStringIncludes(words, "-o IdentitiesOnly=yes");
    assertStringIncludes(words, "-R 8080:localhost:80 -R 9000:localhost:90 -l root -T");
  }));

Deno.test("ssh asks for the passphrase of the key by its path, and by the beginning where ssh replaces a part of it", () =>
  withTemporaryDirectory(async (root) => {
    const home = Deno.env.get("HOME") ?? "";
    const cases = [["/keys/fleet", "/keys/fleet"], ["~/fleet", `${home}/fleet`], ["~op/fleet", ""], ["/keys/%h", ""]];
    for (const [priv, asked] of [...cases, [`/${"é".repeat(60)}`, `/${"é".repeat(49)}`]]) {
      using host = new ScriptedHost(root, "");
      const entry = host.entry({ priv, priv_passwd: "phrase" });
      (await SshConnection.open(entry, host.options().place))[Symbol.dispose]();
      assertEquals(Deno.readTextFileSync(`${root}/asked`), `${asked}\nphrase\n`, priv);
    }
  }));

Deno.test("a key that is none, or that the host does not take, is named with the reason", () =>
  withTemporaryDirectory(async (root) => {
    const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA op@control";
    using host = new ScriptedHost(root, "say fail no space left");
    const run = (text: string) => {
      Deno.writeTextFileSync(`${root}/key.pub`, text);
      return host.run({ deployKey: true }, { priv: `${root}/key`, passwd: "word" });
    };
    const none = `The public key ${root}/key.pub cannot be read: it is no public key`;
    await assertRejects(() => run("-----BEGIN OPENSSH PRIVATE KEY-----\n"), SshError, none);
    await assertRejects(() => run(`${key}\nssh-rsa AAAA second`), SshError, none);
    await assertRejects(() => run(key), SshError, "The key is not on web1: no space left");
  }));

Deno.test("a host that never lets sign in is given up some seconds after its time", () =>
  withTemporaryDirectory(async (root) => {
    using host = new ScriptedHost(root, "", "");
    using time = new SkippedTime();
    const opening = SshConnection.open(host.entry({ timeout: 20 }), host.options().place);
    const [error] = await Promise.all([
      assertRejects(() => opening, SshError, "no connection to web1 within 20 s"),
      time.to(26_000),
    ]);
    assertEquals(error.kind, "unreachable");
  }));

Deno.test("the key of hosts that name none is made once, and is its user's alone", () =>
  withTemporaryDirectory(async (root) => {
    const path = `${root}/ssh/salt-ssh.rsa`;
    await makeKey(path);
    const key = Deno.readTextFileSync(path);
    assertEquals([(Deno.statSync(path).mode ?? 0) & 0o777, (Deno.statSync(`${root}/ssh`).mode ?? 0) & 0o777], [
      0o600,
      0o700,
    ]);
    assertStringIncludes(Deno.readTextFileSync(`${path}.pub`), "ssh-rsa ");
    await makeKey(path);
    assertEquals(Deno.readTextFileSync(path), key);
    await assertRejects(() => makeKey(`${path}/below`), SshError, `The key ${path}/below cannot be made`);
    await assertRejects(() => makeKey("/proc/key"), SshError, "The key /proc/key cannot be made: Saving key");
  }));

Deno.test("an executable that is not there is named; a user's name becomes no path", () =>
  withTemporaryDirectory(async (root) => {
    const executables = new Executables({ ssh_executables: map({ arm64: `${root}/none` }) }, root);
    await assertRejects(() => executables.of("Linux", "aarch64"), SshError, `${root}/none, cannot be read`);
    assertEquals(usualDirectory("../op", "abcdef"), "/var/tmp/..._op_abcdef_salt");
  }));
