import { clearCommand } from "#lib/master/requests/clear_commands.ts";
import { WireError } from "#lib/errors.ts";
import { isJid } from "#lib/protocol/jid.ts";
import { requestArguments } from "#lib/protocol/low.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { type TestServices, testServices } from "#tests/support/fleet/services.ts";

/** The forms of arguments that Salt's clients send to a runner, and the resulting call. */
const ARGUMENTS: readonly (readonly [
  kind: "runner" | "wheel",
  load: Record<string, unknown>,
  args: unknown[],
  kwargs: Record<string, unknown>,
])[] = [
  ["runner", { kwarg: { arg: [1, "a"], kwarg: { b: 2 } } }, [1, "a"], { b: 2 }],
  ["runner", { kwarg: { jid: "x", missing: true } }, [], { jid: "x", missing: true }],
  ["runner", { arg: [1], kwarg: {} }, [], {}],
  ["runner", {}, [], {}],
  ["runner", { kwarg: "no map" }, [], {}],
  ["runner", { kwarg: { arg: "no list", kwarg: [], __jid__: "j", __user__: "root", full_return: true } }, [], {}],
  ["wheel", { match: "web*", include_rejected: true }, [], { match: "web*", include_rejected: true }],
  ["wheel", { arg: ["web*"], kwarg: { __kwarg__: true, include_denied: true } }, ["web*"], { include_denied: true }],
  ["wheel", { arg: [], kwarg: {}, print_event: false, __tag__: "t", client: "wheel" }, [], {}],
];
for (const [kind, load, args, kwargs] of ARGUMENTS) {
  Deno.test(`the arguments of a ${kind} request with ${JSON.stringify(load)} are parsed once, without the credentials`, () => {
    const secrets = {
      cmd: kind,
      fun: "x.y",
      key: "k",
      user: "u",
      token: "t",
      eauth: "e",
      username: "n",
      password: "p",
    };
    assertEquals(requestArguments(map({ ...secrets, ...load }), kind), { args: args as Value[], kwargs: map(kwargs) });
  });
}

async function withServices(run: (services: TestServices) => Promise<void>, options = {}): Promise<void> {
  using services = await testServices(options);
  await run(services);
}

const ask = async (services: TestServices, load: Record<string, unknown>) => {
  const answer = await clearCommand(map(load), services);
  assert(isMap(answer));
  return answer;
};

const REFUSED = map({
  error: { name: "UserAuthenticationError", message: 'Authentication failure of type "user" occurred' },
});

Deno.test("authorize says whether a user may run a function on the hosts that it names", () =>
  withServices(async (services) => {
    const alice = { cmd: "authorize", user: "alice", key: services.accessKeys.get("alice"), kwargs: {} };
    const names = { tgt: ["host1", 5, "host2"], fun: "test.ping", arg: [] };
    assertEquals(
      await ask(services, { ...alice, ...names }),
      map({ enc: "clear", load: { jid: "", minions: ["host1", "host2"], missing: [] } }),
    );
    const refused = async (over: Record<string, unknown>) => {
      const error = (await ask(services, { ...alice, ...names, ...over })).get("error");
      return isMap(error) ? error.get("name") : undefined;
    };
    assertEquals(await refused({ fun: "cmd.run" }), "AuthorizationError");
    assertEquals(await refused({ key: "guess" }), "AuthenticationError");
    for (const over of [{ fun: undefined }, { fun: ["test.ping"] }, { tgt: "host1" }, { arg: null }]) {
      const load = Object.entries({ ...alice, ...names, ...over }).filter(([, field]) => field !== undefined);
      await assertRejects(() => ask(services, Object.fromEntries(load)), WireError);
    }
  }, { publisher_acl: map({ alice: ["test.*"] }) }));

Deno.test("runner is answered at once with the tag of its events, wheel with its result", () =>
  withServices(async (services) => {
    const proof = { user: "root", key: services.accessKeys.get("root") };
    const started = await ask(services, { cmd: "runner", fun: "test.arg", kwarg: { arg: [1], kwarg: {} }, ...proof });
    const jid = String(started.get("jid"));
    assert(isJid(jid));
    assertEquals(started.get("tag"), `salt/run/${jid}`);
    const answered = await ask(services, { cmd: "wheel", fun: "key.list", match: "all", ...proof });
    const data = answered.get("data") as ValueMap;
    assertEquals(answered.get("tag"), `salt/wheel/${data.get("jid")}`);
    assertEquals(["fun", "user", "return", "success"].map((name) => data.get(name)), [
      "wheel.key.list",
      "root",
      "done",
      true,
    ]);
    assertEquals(services.functionJobs.map(({ kind, fun, args, kwargs, user }) => [kind, fun, args, kwargs, user]), [
      ["runner", "test.arg", [1], new Map(), "root"],
      ["wheel", "key.list", [], map({ match: "all" }), "root"],
    ]);
  }));

Deno.test("runner and wheel run nothing for a client without credentials, or with rules for publishing only", () =>
  withServices(async (services) => {
    const alice = services.accessKeys.get("alice"), root = services.accessKeys.get("root");
    const proofs: Record<string, unknown>[] = [
      {},
      { user: "root" },
      { user: "root", key: "" },
      { user: "root", key: "x".repeat(76) },
      { user: "root", key: alice },
      { user: "alice", key: alice },
      { user: "alice", key: root },
      { user: "sudo_alice", key: alice },
      { user: "nobody", key: alice },
      { user: ["root"], key: root },
      { user: "root", key: [root] },
      { token: "../../etc/shadow" },
      { eauth: "pam", username: "root", password: "" },
    ];
    for (const proof of proofs) {
      for (const cmd of ["runner", "wheel"]) {
        const answer = await ask(services, { cmd, fun: "key.accept", match: "*", ...proof });
        if ("token" in proof || "eauth" in proof) assert(isMap(answer.get("error")), JSON.stringify(proof));
        else assertEquals(answer, REFUSED, JSON.stringify(proof));
      }
    }
    assertEquals(services.functionJobs, []);
  }, { publisher_acl: map({ alice: [".*", "key.*"] }) }));

Deno.test("a request without a function is refused, and its key is never logged", () =>
  withServices(async (services) => {
    const proof = { user: "root", key: services.accessKeys.get("root") };
    for (const fun of [undefined, 5, ["key.accept"]]) {
      await assertRejects(() => ask(services, { cmd: "wheel", ...(fun === undefined ? {} : { fun }), ...proof }));
    }
    await ask(services, { cmd: "runner", fun: `a.${"b".repeat(10_000)}`, kwarg: {}, ...proof });
    const log = services.logged.join("\n");
    assertStringIncludes(log, "runs runner a.bbb");
    assert(log.length < 5_000 && !log.includes(String(proof.key)));
  }));
