import { SearchPath } from "#tests/support/search_path.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { ConfigError, PreflightError } from "#lib/errors.ts";
import { pillarRemotes } from "#lib/files/git/pillar_remotes.ts";
import {
  checkPillarRepositories,
  configuredPillarRepositories,
  fetchPillarRepository,
} from "#lib/files/git/pillar_updates.ts";
import { masterPillarHost } from "#lib/master/processes/pillar_compiler.ts";
import { plainRequest } from "#lib/pillar/request.ts";
import { PillarService } from "#lib/pillar/service.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { decode } from "#lib/values/msgpack.ts";
import { repr, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { git } from "#tests/support/files/file_server.ts";

const commit = (repository: string, message: string) =>
  git(["-C", repository, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "-am", message]);

/** A repository with pillar files, and a master that uses it as git_pillar. */
async function withRepository(act: (root: string, repository: string) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "git_pillar_" });
  try {
    const repository = `${root}/pillar`;
    await git(["init", "--quiet", "--initial-branch=master", repository]);
    await Deno.writeTextFile(`${repository}/top.sls`, "base:\n  '*': [a]\n");
    await Deno.writeTextFile(`${repository}/a.sls`, "a: 1\n");
    await git(["-C", repository, "add", "--all"]);
    await commit(repository, "first");
    await act(root, repository);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

function masterOf(root: string, extPillar: string) {
  const written = loadYaml(extPillar);
  const overrides = { root_dir: root, id: "m_master", ext_pillar: written };
  return loadMasterConfig({ configDir: root, readsFiles: false, overrides }).opts;
}

function values(extPillar: string, more: ValueMap = new Map()): { remotes: Value[]; opts: ValueMap } {
  const remotes = loadYaml(extPillar);
  assert(Array.isArray(remotes));
  return { remotes, opts: new Map([...optsValues(masterOf("/nowhere", "[]")), ...more]) };
}

Deno.test("a git pillar is cached until a fetch brings a new commit", () =>
  withRepository(async (root, repository) => {
    const opts = masterOf(root, `[{git: ["master file://${repository}"]}]`);
    const host = masterPillarHost(opts, { log: SILENT_LOGGER, signal: new AbortController().signal });
    const service = new PillarService(opts, host);
    const ask = async () => decode(await service.pillar(plainRequest("web1", new Map())), "wire");
    assertEquals(repr(await ask()), "{'a': 1}");
    await Deno.writeTextFile(`${repository}/a.sls`, "a: 2\n");
    await commit(repository, "second");
    assertEquals(repr(await ask()), "{'a': 1}", "nothing was fetched yet");
    const [remote] = configuredPillarRepositories(optsValues(opts));
    assertEquals(await fetchPillarRepository(remote), "changed");
    assertEquals(await fetchPillarRepository(remote), "unchanged");
    assertEquals(repr(await ask()), "{'a': 2}");
  }));

Deno.test("a missing repository does not affect others, and one with locked updates is skipped", () =>
  withRepository(async (root, repository) => {
    const opts = masterOf(
      root,
      `[{git: ["master file://${root}/nowhere"]}, {git: ["master file://${repository}"]}]`,
    );
    const lines: string[] = [];
    const host = {
      ...masterPillarHost(opts, { log: SILENT_LOGGER, signal: new AbortController().signal }),
      log: (_: string, line: string) => void lines.push(line),
    };
    const service = new PillarService(opts, host);
    assertEquals(
      repr(decode(await service.pillar(plainRequest("web1", new Map())), "wire")),
      "{'a': 1, '_errors': [\"Failed to load ext_pillar git: a repository with the branch master cannot be fetched: see the master's log\"]}",
    );
    assertStringIncludes(lines.join("\n"), `The git_pillar remote 'master file://${root}/nowhere' cannot be updated`);
    const [, remote] = configuredPillarRepositories(optsValues(opts));
    await remote.lock.set();
    assertEquals(await fetchPillarRepository(remote), "locked");
  }));

Deno.test("invalid options of a repository give Salt's errors before the master starts", () => {
  const refused: readonly [string, string][] = [
    ["[1]", "Invalid git_pillar remote 1. Remotes must be strings"],
    ["[{'master https://x.example.org/p': []}]", "there may be a trailing colon after the URL"],
    ["[{'master https://x.example.org/p': [{mount: x}]}]", "Invalid git_pillar configuration parameter 'mount'"],
    ["[{'master https://x.example.org/p': [{base: x}]}]", "base can only be specified if __env__"],
    ["[{'master https://x.example.org/p': [{root: ../../etc}]}]", "leads out of it"],
    ["[{'master https://x.example.org/p': [{mountpoint: a/../../b}]}]", "leads out of it"],
    ["[{'master https://x.example.org/p': [{name: ../x}]}]", "its name cannot name a directory"],
    ["[{'master http://x.example.org/p': [{user: u}]}]", "needs insecure_auth"],
    ["['master https://x.example.org/p', 'master https://x.example.org/p']", "conflicting cachedirs"],
  ];
  for (const [extPillar, words] of refused) {
    const { remotes, opts } = values(extPillar);
    assertThrows(() => pillarRemotes(remotes, opts, () => {}), ConfigError, words);
    const masterOpts = new Map(opts).set("ext_pillar", [new Map<Value, Value>([["git", remotes]])]);
    assertThrows(() => checkPillarRepositories(masterOpts), PreflightError, words);
    checkPillarRepositories(masterOpts.set("git_pillar_verify_config", false));
  }
});

Deno.test("a remote without a URL is left out with a warning, as in Salt", () => {
  const warned: string[] = [];
  const { remotes, opts } = values(
    "['master ext::sh -c id', 'master --upload-pack=id', {'master x y': [{root: x}]}, 'main /srv/p', '']",
  );
  const ids = pillarRemotes(remotes, opts, (message) => warned.push(message)).map(({ id }) => id);
  assertEquals(ids, ["main /srv/p"]);
  assertEquals(warned, [
    "Found bad url data 'master ext::sh -c id'",
    "Found bad url data 'master --upload-pack=id'",
    "Found bad url data 'master x y'",
    "Found bad url data ''",
  ]);
});

Deno.test("for a repository over SSH a program answers the question for the passphrase, and no other question", () =>
  withRepository(async (root, repository) => {
    const run = async (command: string, ...args: string[]) => {
      const { success } = await new Deno.Command(command, { args, stdout: "null", stderr: "null" }).output();
      assert(success, command);
    };
    await run("ssh-keygen", "-q", "-t", "ed25519", "-N", "open sesame", "-f", `${root}/key`);
    // Replaces ssh: opens the key as ssh does, and runs the command of the remote host.
    await Deno.mkdir(`${root}/bin`);
    await Deno.writeTextFile(
      `${root}/bin/ssh`,
      `#!/bin/sh
printf '%s\\n' "$*" > ${root}/ssh_args
ssh-keygen -y -f ${root}/key > /dev/null 2> ${root}/ssh_error < /dev/null || exit 255
for last; do :; done
exec sh -c "$last"
`,
      { mode: 0o755 },
    );
    using _path = new SearchPath(`${root}/bin`);
    const fetched = async (passphrase: string) => {
      const options = `[{privkey: ${root}/key}, {passphrase: '${passphrase}'}, {name: with_${passphrase.length}}]`;
      const { remotes, opts } = values(`[{'master ssh://git@host.example.org${repository}': ${options}}]`);
      const [remote] = configuredPillarRepositories(
        opts.set("cachedir", `${root}/cache`).set("ext_pillar", [new Map<Value, Value>([["git", remotes]])]),
      );
      return await fetchPillarRepository(remote);
    };
    assertEquals(await fetched("open sesame"), "changed");
    assertStringIncludes(await Deno.readTextFile(`${root}/ssh_args`), "PasswordAuthentication=no");
    const error = await assertRejects(() => fetched("wrong"), Error, "git fetch of ssh://");
    assert(!error.message.includes("wrong"));
    await assertRejects(() => fetched(""), Error, "git fetch of ssh://");
    assertStringIncludes(await Deno.readTextFile(`${root}/ssh_args`), "BatchMode=yes");
  }));
