/**
 * The states of Docker where a step fails: functions of `docker` whose answers a test chooses. What they do with a real
 * engine, tests/modules/execution/docker_test.ts has.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { DockerError } from "#lib/host/docker/engine.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import {
  type Answer,
  type Answers,
  inTurn,
  type ScriptedResult,
  scriptedState,
  throwing,
} from "#tests/support/calls/state_call.ts";

/** A function that the engine refuses. */
function refused(text: string, status = 500): Answer {
  return throwing(new DockerError(status, text));
}

/** Calls a state; the names of the functions are those of `docker`. */
async function reach(
  fun: string,
  args: Readonly<Record<string, unknown>>,
  answers: Answers,
  test = false,
): Promise<ScriptedResult> {
  const all = Object.entries(answers).map(([name, answer]) => [name.includes(".") ? name : `docker.${name}`, answer]);
  const outcome = await scriptedState(fun, args, Object.fromEntries(all), { test });
  return { ...outcome, calls: outcome.calls.map((call) => call.replace(/^docker\./, "")) };
}

const WEB = { name: "web", image: "busybox" };

/** A container `web` of the wanted image, which runs, beside a new one `tmp`. */
const THERE: Answers = {
  networks: [map({ Name: "front" })],
  resolve_image_id: "sha256:1",
  inspect_container: () => map({ Image: "sha256:1", NetworkSettings: { Networks: {} } }),
  state: "running",
  create: () => map({ Name: "tmp", Id: "id-tmp" }),
  connect_container_to_network: true,
  disconnect_container_from_network: true,
  compare_container_networks: () => new Map(),
  compare_containers: () => new Map(),
  connected: () => ["web"],
  version: () => map({ VersionInfo: [26, 1] }),
  rm: () => ["removed"],
  rename: true,
  start: () => map({ state: { old: "stopped", new: "running" } }),
  signal: true,
  "config.option": () => new Map(),
};

Deno.test("docker_container.running: wrong networks are refused before anything is made", async () => {
  for (
    const [networks, text] of [
      [[["front"]], "Invalid network configuration (see documentation)"],
      [[{ front: "x" }], "Invalid configuration for network 'front' (see documentation)"],
      [[{ front: {} }], "Invalid configuration for network 'front' (see documentation)"],
      [["back", "front", "aside"], "The following networks are not present: aside, back"],
    ] as const
  ) {
    const { result, comment, changes, calls } = await reach("docker_container.running", { ...WEB, networks }, THERE);
    assertEquals([result, comment, changes], [false, text, new Map()]);
    assertEquals(calls.filter((call) => call !== "networks"), []);
  }
});

Deno.test("docker_container.running: an image that a pull did not bring is a failure, with what was pulled", async () => {
  const pulled = map({ Status: "done" });
  const answers = { ...THERE, resolve_image_id: false, pull: () => pulled };
  const { result, comment, changes } = await reach("docker_container.running", WEB, answers);
  const text = "Image 'busybox' not present despite a docker pull raising no errors";
  assertEquals([result, comment, changes], [false, text, map({ image: { Status: "done" } })]);
  const refusal = { ...THERE, resolve_image_id: false, pull: refused("no such image", 404) };
  assertEquals(
    (await reach("docker_container.running", WEB, refusal)).comment,
    "Failed to pull busybox: Error 404: no such image",
  );
  const later = await reach("docker_container.running", WEB, {
    ...THERE,
    resolve_image_id: inTurn(false, "sha256:1"),
    pull: () => pulled,
  });
  assertEquals([later.result, later.changes], [true, map({ image: { Status: "done" } })]);
});

Deno.test("docker_container.running: a container of an engine that names no image is left alone", async () => {
  const { result, comment, calls } = await reach("docker_container.running", WEB, {
    ...THERE,
    inspect_container: () => new Map(),
  });
  assertEquals([result, comment], [
    false,
    "Unable to detect current image for container 'web'. This might be due to a change in the Docker API.",
  ]);
  assertEquals(calls, ["resolve_image_id busybox", "inspect_container web"]);
});

Deno.test("docker_container.running: a container that has ended again is a failure, unless it need not run", async () => {
  const ended = { ...THERE, state: "stopped", start: () => map({ state: { old: "stopped", new: "stopped" } }) };
  const failed = await reach("docker_container.running", WEB, ended);
  assertEquals([failed.result, failed.comment], [
    false,
    "Container 'web' is already configured as specified. Container is not running.",
  ]);
  const { result, calls } = await reach("docker_container.running", { ...WEB, start: false }, ended);
  assertEquals([result, calls.includes("start web")], [true, false]);
});

Deno.test("docker_container.running: a step that fails on the way is the end, and no other container is left over", async () => {
  const networks = ["front"];
  const refusal = refused("address in use", 403);
  // The one that was made for comparison does not come into its network.
  for (const image of ["sha256:1", "sha256:2"]) {
    const { result, comment, calls } = await reach("docker_container.running", { ...WEB, networks }, {
      ...THERE,
      resolve_image_id: image,
      connect_container_to_network: refusal,
    });
    assertEquals([result, comment, calls.at(-1)], [false, "Error 403: address in use", "rm tmp"]);
  }
  // One that is new stays under its name, as in Salt.
  const made = await reach("docker_container.running", { ...WEB, networks }, {
    ...THERE,
    inspect_container: inTurn(refused("no such container", 404), new Map()),
    create: () => map({ Name: "web", Id: "id-web" }),
    connect_container_to_network: refusal,
  });
  assertEquals([made.result, made.comment, made.calls.includes("rm web")], [false, "Error 403: address in use", false]);
});

Deno.test("docker_container.running: what came of a replacement that did not work is told", async () => {
  const differing = () => map({ Config: { Cmd: { old: "", new: null } } });
  for (
    const [image, answers, comment] of [
      [
        "sha256:1",
        { rename: refused("name in use", 409) },
        "Failed to rename temp container: Error 409: name in use. Failed to replace container 'web'.",
      ],
      [
        "sha256:2",
        { rename: refused("name in use", 409) },
        "Failed to rename temp container: Error 409: name in use. Failed to replace container 'web'.",
      ],
      ["sha256:2", { rename: false }, "Failed to replace container 'web'"],
    ] as const
  ) {
    const all = { ...THERE, resolve_image_id: image, compare_containers: differing, ...answers };
    const given = await reach("docker_container.running", WEB, all);
    assertEquals([given.result, given.comment], [false, comment]);
    assertEquals((given.changes as ValueMap).get("container_id"), map({ removed: ["removed"] }));
  }
  const replaced = await reach("docker_container.running", WEB, { ...THERE, resolve_image_id: "sha256:2" });
  assertEquals([replaced.result, replaced.comment], [true, "Replaced container 'web'. Container has a new image."]);
  assertEquals(
    replaced.changes,
    map({ container_id: { removed: ["removed"], added: "id-tmp" }, image: { old: "sha256:1", new: "sha256:2" } }),
  );
  const odd = await reach("docker_container.running", WEB, { ...THERE, compare_containers: differing }, true);
  assertEquals([odd.result, odd.comment], [null, "Container 'web' would be replaced"]);
  assertEquals(odd.warnings, [
    "The detected changes may be due to incorrect handling of arguments in earlier Salt releases. If this warning persists after " +
    "running the state again without test=True, and no changes were made to the SLS file, then please report this.",
  ]);
});

Deno.test("docker_container.running: networks that cannot be left or entered are failures, with what is so now", async () => {
  const differing = () =>
    map({ front: { Aliases: { old: null, new: ["a"] }, IPAddress: { old: "10.0.0.2", new: "10.0.0.3" } } });
  const networks = [{ front: [{ aliases: "a" }] }];
  const of = (answers: Answers) =>
    reach("docker_container.running", { ...WEB, networks }, {
      ...THERE,
      compare_container_networks: differing,
      ...answers,
    });
  const lost = await of({ connect_container_to_network: inTurn(true, refused("no address", 403)) });
  assertEquals([lost.result, lost.comment], [
    false,
    "Container 'web' is already configured as specified. Error 403: no address. Disconnected from network 'front'.",
  ]);
  assertEquals(
    lost.changes,
    map({ container: { Networks: { front: { IPAddress: { old: "10.0.0.2", new: null } } } } }),
  );
  const held = await of({ disconnect_container_from_network: refused("it is busy", 500) });
  assertEquals([held.result, held.comment], [
    false,
    "Container 'web' is already configured as specified. Error 500: it is busy. Connected to network 'front'.",
  ]);
  assertEquals([lost.calls.at(-1), held.calls.at(-1)], ["rm tmp", "rm tmp"]);
});

Deno.test("docker_container.mod_watch sends a signal where the container is as it shall be", async () => {
  const watched = { ...WEB, sfun: "running", watch_action: "SIGHUP" };
  const sent = await reach("docker_container.mod_watch", watched, THERE);
  assertEquals([sent.result, sent.comment, sent.changes], [
    true,
    "Sent signal SIGHUP to container",
    map({ signal: "SIGHUP" }),
  ]);
  const predicted = await reach("docker_container.mod_watch", watched, THERE, true);
  assertEquals(predicted.comment, "Signal SIGHUP would be sent to container");
  assertEquals(predicted.calls.includes("signal web"), false);
  const failed = await reach("docker_container.mod_watch", watched, {
    ...THERE,
    signal: refused("no such signal", 400),
  });
  assertEquals([failed.result, failed.comment], [false, "Failed to signal container: Error 400: no such signal"]);
  const other = await reach("docker_container.mod_watch", { name: "web", sfun: "absent" }, {});
  assertEquals([other.result, other.comment], [false, "watch requisite is not implemented for absent"]);
});

Deno.test("docker_container.run: an outcome without a return code, and a container that stays, are told", async () => {
  const answers = { ...THERE, run_container: () => map({ Id: "1" }), rm: refused("it is busy") };
  const { result, comment, warnings, calls } = await reach(
    "docker_container.run",
    { ...WEB, networks: "front", rm: true },
    answers,
  );
  assertEquals([result, comment], [true, ""]);
  assertEquals(warnings, ["Failed to auto_remove container: Error 500: it is busy"]);
  assertEquals(calls, ["networks", "resolve_image_id busybox", "run_container busybox", "rm 1"]);
});

Deno.test("docker_container.stopped and absent say which container stays", async () => {
  const stop: Answer = ([name]) =>
    map(name === "a" ? { result: true } : name === "b" ? { result: false, comment: "no" } : {});
  const stopped = await reach("docker_container.stopped", { name: "x", containers: ["a", "b", "c"] }, {
    state: "running",
    stop,
  });
  assertEquals([stopped.result, stopped.comment, stopped.changes], [
    false,
    "no; Failed to stop container 'c'",
    map({ a: { result: true } }),
  ]);
  const none = await reach("docker_container.stopped", { name: "" }, {});
  assertEquals([none.result, none.comment], [false, "One of 'name' and 'containers' must be provided"]);
  const absent = (answers: Answers) =>
    reach("docker_container.absent", { name: "web" }, { state: "stopped", list_containers: ["web"], ...answers });
  assertEquals(
    (await absent({ rm: refused("it is busy") })).comment,
    "Failed to remove container 'web': Error 500: it is busy",
  );
  const kept = await absent({ rm: () => ["1"] });
  assertEquals([kept.result, kept.comment], [false, "Failed to remove container 'web'"]);
});

Deno.test("docker_image: what an image is not had or removed by is told", async () => {
  const missing = refused("no such image", 404);
  const present = (args: Readonly<Record<string, unknown>>, answers: Answers) =>
    reach("docker_image.present", { name: "app", ...args }, answers);
  const unread = await present({}, { inspect_image: refused("broken") });
  assertEquals([unread.result, unread.comment], [false, "Error 500: broken"]);
  const failed = await present({}, { inspect_image: missing, pull: () => map({ Errors: ["denied", "gone"] }) });
  assertEquals([failed.result, failed.comment], [false, "Encountered error pulling app: denied; gone"]);
  const tagless = await present({}, {
    inspect_image: inTurn(missing, map({ RepoTags: [] })),
    pull: () => map({ Status: "new" }),
  });
  assertEquals([tagless.result, tagless.warnings], [true, ["Image app has no tag"]]);
  const gone = await present({}, { inspect_image: missing, pull: () => map({ Status: "new" }) });
  assertEquals([gone.result, gone.comment], [false, "Image 'app' was pulled, but is not there"]);
  // One that is there already, and is had again.
  const id = "0123456789abcdef";
  const old = () => map({ Id: `sha256:${id}`, RepoTags: ["app:1"] });
  for (
    const [args, answers, text] of [
      [
        { build: "/src" },
        { build: () => map({ Id: id.slice(0, 12) }) },
        "Image 'app' was built, but there were no changes",
      ],
      [{ build: "/src" }, { build: () => map({ Id: "fff" }) }, "Image 'app:1' was built"],
      [
        { sls: "web" },
        { sls_build: () => map({ Id: `sha256:${id}` }) },
        "Image 'app' was built, but there were no changes",
      ],
      [{ load: "/a.tar" }, { load: () => map({ Layers: [] }) }, "Image 'app' was loaded, but there were no changes"],
      [{ load: "/a.tar" }, { load: () => map({ Layers: ["1"] }) }, "Image 'app:1' was loaded"],
    ] as const
  ) {
    const given = await present({ tag: "1", force: true, ...args }, { inspect_image: old, ...answers });
    assertEquals([given.result, given.comment, (given.changes as ValueMap).size > 0], [
      true,
      text,
      !text.includes("no changes"),
    ]);
  }
  const absent = (args: Readonly<Record<string, unknown>>, answers: Answers) =>
    reach("docker_image.absent", args, answers);
  assertEquals((await absent({ name: "" }, {})).comment, "One of 'name' and 'images' must be provided");
  const half = await absent({ name: "x", images: ["a:1", "b:1"] }, {
    resolve_tag: ([image]) => image,
    rmi: () => map({ Untagged: ["a:1"] }),
    list_tags: () => ["b:1"],
  });
  assertEquals([half.result, half.comment, half.changes], [
    false,
    "The following image(s) failed to be removed: b:1",
    map({ Untagged: ["a:1"] }),
  ]);
  const watched = (sfun: string) =>
    reach("docker_image.mod_watch", { name: "app", sfun }, {
      inspect_image: old,
      pull: () => map({ Layers: { Pulled: ["1"] } }),
    });
  assertEquals((await watched("present")).comment, "Image 'app' was pulled");
  assertEquals((await watched("absent")).comment, "watch requisite is not implemented for absent");
});

Deno.test("docker_volume says what was not made or removed, and what was lost by it", async () => {
  const volumes = () => map({ Volumes: [{ Name: "data", Driver: "local" }] });
  const forced = { name: "data", driver: "nfs", force: true };
  const predicted = await reach("docker_volume.present", forced, { volumes }, true);
  const text = "The volume 'data' will be replaced with a new one using the driver 'nfs'";
  assertEquals([predicted.result, predicted.comment], [null, text]);
  const lost = await reach("docker_volume.present", forced, {
    volumes,
    remove_volume: true,
    create_volume: refused("no nfs"),
  });
  assertEquals([lost.result, lost.comment, lost.changes], [
    false,
    "Failed to create volume 'data': Error 500: no nfs",
    map({ removed: true }),
  ]);
  const busy = { volumes, remove_volume: refused("in use", 409) };
  const kept = await reach("docker_volume.present", forced, busy);
  assertEquals([kept.comment, kept.changes], ["Failed to remove volume 'data': Error 409: in use", new Map()]);
  assertEquals((await reach("docker_volume.absent", { name: "data" }, busy)).comment, kept.comment);
});

/** A network with two containers, which differs from what it shall be. */
const NETWORK: Answers = {
  inspect_network: () =>
    map({
      Name: "net",
      IPAM: { Config: [] },
      Containers: { a: { Name: "web", IPv4Address: "10.0.0.2/24" }, b: { Name: "db" } },
    }),
  inspect_container: ([name]) => map({ Id: name, State: { Running: true } }),
  compare_networks: () => map({ Internal: { old: false, new: true } }),
  create_network: true,
  remove_network: true,
  connect_container_to_network: true,
  disconnect_container_from_network: true,
};

Deno.test("docker_network.present: a network that cannot be made again says what has become of its containers", async () => {
  const present = (answers: Answers, args: Readonly<Record<string, unknown>> = {}) =>
    reach("docker_network.present", { name: "net", internal: true, ...args }, { ...NETWORK, ...answers });
  const isTemporary = ([name]: readonly Value[]) => name !== "net";
  const only = (fits: (args: readonly Value[]) => boolean, failure: Answer): Answer => (args, kwargs) =>
    fits(args) && typeof failure === "function" ? failure(args, kwargs) : true;
  const texts: [Answers, string][] = [
    [{ inspect_network: refused("broken") }, "Error 500: broken"],
    [
      { create_network: only(isTemporary, refused("no room")) },
      "Failed to create temp network for comparison: Error 500: no room",
    ],
    [{ compare_networks: refused("broken") }, "Failed to inspect temp network: Error 500: broken"],
    [
      { disconnect_container_from_network: only(([id]) => id === "b", refused("busy")) },
      "Failed to disconnect container 'db' : Error 500: busy",
    ],
    [
      { remove_network: only((args) => !isTemporary(args), refused("busy")) },
      "Failed to remove network: Error 500: busy",
    ],
    [
      { create_network: only((args) => !isTemporary(args), refused("no room")) },
      "Failed to create network 'net': Error 500: no room",
    ],
  ];
  for (const [answers, text] of texts) {
    const { result, comment } = await present(answers);
    assertEquals([result, comment], [false, text]);
  }
  const half = await present({ disconnect_container_from_network: only(([id]) => id === "b", refused("busy")) });
  assertEquals((half.changes as ValueMap).get("disconnected"), ["web"]);
  assertEquals(half.calls.filter((call) => /^(create|remove)_network net/.test(call)), []);
  const left = await present({ remove_network: only(isTemporary, refused("busy")) });
  assertEquals(left.result, true);
  assertEquals([left.warnings].flat().map((one) => String(one).replace(/'[a-z]{20}'/, "'?'")), [
    "Failed to remove temp network '?': Error 500: busy.",
  ]);
  // The old address is not free, or the container is in it no more.
  const rejoining: Answer = ([id], kwargs) => {
    if (id === "b" || kwargs.size > 0) throw new CommandError(`no address for ${String(id)}`);
    return true;
  };
  const rejoined = await present({ connect_container_to_network: rejoining });
  assertEquals([rejoined.result, rejoined.comment], [
    false,
    "Network 'net' was replaced with updated config. no address for b.",
  ]);
  assertEquals((rejoined.changes as ValueMap).get("reconnected"), ["web"]);
  const listed = await present({}, { containers: ["b"] });
  assertEquals([listed.result, (listed.changes as ValueMap).get("disconnected")], [true, ["web"]]);
});

Deno.test("docker_network.absent and the name of a bridge for comparison", async () => {
  const absent = await reach("docker_network.absent", { name: "net" }, { inspect_network: refused("broken") });
  assertEquals([absent.result, absent.comment], [false, "Error 500: broken"]);
  const bridges: Value[] = [];
  const create: Answer = (_args, kwargs) => {
    const options = kwargs.get("options");
    if (options instanceof Map) bridges.push(options.get("com.docker.network.bridge.name") ?? null);
    return true;
  };
  const bridge = { driver: "bridge", driver_opts: [{ "com.docker.network.bridge.name": "br-application" }] };
  await reach("docker_network.present", { name: "net", ...bridge }, { ...NETWORK, create_network: create });
  // Two bridges have two names, and a name has at most 14 characters.
  assertEquals(bridges, ["pplicationcomp", "br-application"]);
});
