/**
 * Targets: a whole master over real TCP, with hostile peers on 4506 and 4505 that violate ZMTP, and peers that send
 * random data in valid ZMTP. Properties: every message gets its reply, no thread dies, the next valid request and
 * publish are served.
 * @module
 */

import { accessKeyPath, type MasterPorts, readPorts } from "#lib/config/master_paths.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { Crypticle } from "#lib/crypto/crypticle.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { createLogger, LEVEL_NUMBERS } from "#lib/runtime/log.ts";
import { Master } from "#lib/master/daemon/master.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { clearRequest, encryptedRequest } from "#lib/protocol/payload.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { SessionKeys } from "#lib/keys/sessions.ts";
import { Inbox } from "#lib/sockets/endpoint.ts";
import { isMap, map, str } from "#lib/values/value.ts";
import { ACCEPTED_ID, FUZZ_KEY_BITS, GuardedDirectory } from "./master_fixture.ts";
import { mutateBytes, NASTY_TEXTS, type Random } from "./mutate.ts";
import { type FuzzTarget, hold, type Note } from "./target.ts";
import { mutateMap, randomMsgpack } from "./values.ts";
import { command, frame, greeting, join, message, ready, ZmtpPeer } from "./zmtp_peer.ts";

/** Time limit of a valid request while the fuzzer runs, in milliseconds. */
const VALID_MS = 60_000;
/** Number of hostile connections that are kept open, to test the effect of half a message. */
const MAX_CONNECTIONS = 50;

interface RunningMaster {
  readonly ports: MasterPorts;
  readonly seal: (load: Parameters<typeof map>[0]) => Uint8Array;
  checkService(): Promise<void>;
  close(): Promise<void>;
}

async function startMaster(): Promise<RunningMaster> {
  const guarded = new GuardedDirectory();
  const { root } = guarded;
  Deno.writeTextFileSync(
    `${root}/master`,
    JSON.stringify({
      root_dir: `${root}/`,
      id: "fuzz",
      interface: "127.0.0.1",
      publish_port: 0,
      ret_port: 0,
      worker_threads: 2,
    }),
  );
  const { opts } = loadMasterConfig({ configDir: root });
  for (const path of [opts.pki_dir, opts.cachedir, opts.sock_dir]) Deno.mkdirSync(path, { recursive: true });
  const minionKey = await PrivateKey.generate(FUZZ_KEY_BITS);
  new KeyStore(opts.pki_dir).put(ACCEPTED_ID, "accepted", minionKey.publicKey.pem);
  const session = new Crypticle(new SessionKeys(opts.cachedir, 86_400_000).forSignIn(ACCEPTED_ID));
  const tok = minionKey.signX931(new TextEncoder().encode("salt"));
  const unforeseen: string[] = [];
  const log = createLogger([{
    level: LEVEL_NUMBERS.error,
    write: ({ message }) =>
      void (/ died|A request failed|Answering a request/.test(message) && unforeseen.push(message)),
    close: () => {},
  }]);
  const master = await Master.start(opts, log);
  const ports = readPorts(opts.sock_dir);
  if (ports === undefined) throw new Error("the master has written no ports");
  const { requestPort, publishPort } = ports;
  const channel = new RequestChannel(`tcp://127.0.0.1:${requestPort}`);
  const subscriber = Inbox.subscriber();
  subscriber.subscribe("");
  subscriber.connect(`tcp://127.0.0.1:${publishPort}`);
  const user = opts.user ?? "root";
  const key = Deno.readTextFileSync(accessKeyPath(opts.cachedir, user));
  const ask = async (load: Record<string, unknown>) =>
    decode(await channel.request(clearRequest(map(load)), { timeoutMs: VALID_MS, tries: 1 }), "wire");

  return {
    ports,
    seal: (load) =>
      encryptedRequest(session.dumps(map({ id: ACCEPTED_ID, tok, ts: 0, nonce: "n".repeat(32), ...load })), {
        id: ACCEPTED_ID,
        encAlgorithm: "OAEP-SHA1",
        sigAlgorithm: "PKCS1v15-SHA1",
      }),
    async checkService() {
      const pong = await ask({ cmd: "ping" });
      hold(isMap(pong) && pong.get("cmd") === "ping", `the ping is answered by ${str(pong)}`);
      const publish = {
        cmd: "publish",
        user,
        key,
        fun: "test.ping",
        arg: [],
        jid: "",
        ret: "",
        kwargs: {},
        tgt: "*",
        tgt_type: "glob",
      };
      // A subscriber that has just connected misses publishes until the master knows it: try again.
      let frames;
      for (let tries = 0; frames === undefined && tries < 5; tries++) {
        const reply = await ask(publish);
        hold(isMap(reply) && reply.has("load"), `the publish is answered by ${str(reply)}`);
        frames = await subscriber.receive(1_000);
      }
      hold(frames !== undefined, "an valid subscriber gets nothing");
      const [first] = unforeseen;
      hold(first === undefined, `not foreseen: ${first}`);
    },
    async close() {
      channel.close();
      subscriber.close();
      await master.close();
      guarded.close();
      hold(unforeseen.length === 0, `not foreseen: ${unforeseen[0]}`);
    },
  };
}

const CLEAR = { cmd: "ping", id: "x" };

function body(random: Random, running: RunningMaster): Uint8Array {
  switch (random.int(6)) {
    case 0:
      return random.bytes(random.length(2_000));
    case 1:
      return randomMsgpack(random);
    case 2:
      return mutateBytes(random, running.seal({ cmd: "_minion_event", tag: random.pick(NASTY_TEXTS), data: {} }));
    case 3:
      return running.seal({
        cmd: random.pick(["_return", "_pillar", "_minion_event", ...NASTY_TEXTS]),
        tag: "fuzz",
        jid: "x",
        return: 1,
        fun: "x",
      });
    case 4:
      return mutateBytes(random, clearRequest(map({ cmd: "_auth", id: "new1", nonce: "n", pub: "x" })));
    default:
      return encode(mutateMap(random, map({ enc: "clear", version: 3 })).set("load", map(CLEAR)), "wire");
  }
}

/** Valid ZMTP messages: whatever they contain, each gets its reply. */
export const tcpRequests: FuzzTarget = {
  name: "tcp_requests",
  share: 12,
  refusals: [],
  needsSockets: true,
  checkEvery: 500,
  async open() {
    const running = await startMaster();
    const { requestPort } = running.ports;
    let peer = await ZmtpPeer.open(requestPort, "DEALER");
    return {
      async feed(random, note) {
        let inner: Uint8Array;
        try {
          inner = body(random, running);
        } catch {
          inner = Uint8Array.of(0xc1); // this load cannot be sent
        }
        const empty = new Uint8Array();
        const parts = random.pick([
          [empty, inner],
          [empty, inner],
          [empty, inner],
          [inner],
          [empty],
          [empty, inner, inner],
          [inner, empty, inner],
          [inner, inner],
        ]);
        const sent = message(parts);
        note(sent);
        await peer.send(sent);
        try {
          const reply = await peer.receive(VALID_MS);
          decode(reply[reply.length - 1], "wire");
          return parts.length === 2 && parts[0].length === 0 ? "answered" : "answered, oddly framed";
        } catch (error) {
          peer.close();
          peer = await ZmtpPeer.open(requestPort, "DEALER");
          throw error;
        }
      },
      checkService: () => running.checkService(),
      async close() {
        peer.close();
        await running.close();
      },
    };
  },
};

const SOCKET_TYPES = ["REQ", "DEALER", "SUB", "XSUB", "PUB", "ROUTER", "PAIR", "PUSH", "CLIENT", "", "X".repeat(255)];

/** What a peer may send after its greeting, valid or not. */
function conversation(random: Random): Uint8Array {
  const topic = random.bytes(random.length(300));
  switch (random.int(9)) {
    case 0:
      return command(
        random.pick(["PING", "PONG", "ERROR", "SUBSCRIBE", "CANCEL", "READY", "HELLO", "JOIN", "X"]),
        topic,
      );
    case 1:
      return frame(Uint8Array.of(random.int(3), ...topic)); // a subscription, or its end, of ZMTP 3.0
    case 2:
      return message([new Uint8Array(), topic]);
    case 3:
      return message(Array.from({ length: random.pick([3, 50, 2_000]) }, () => new Uint8Array(random.int(3))));
    case 4: { // a frame that announces more bytes than follow
      const lying = frame(new Uint8Array(300));
      new DataView(lying.buffer).setBigUint64(
        1,
        random.pick([2n ** 31n, 2n ** 32n, 2n ** 40n, 2n ** 63n, 2n ** 64n - 1n, 100_000n]),
      );
      return lying;
    }
    case 5:
      return frame(topic, random.int(256));
    case 6:
      return command("SUBSCRIBE", new Uint8Array(random.pick([0, 1, 255, 20_000])).fill(97));
    case 7:
      return ready(random.pick(SOCKET_TYPES));
    default:
      return randomMsgpack(random);
  }
}

function hostile(name: string, portOf: (running: RunningMaster) => number, types: readonly string[]): FuzzTarget {
  return {
    name,
    share: 4,
    refusals: [],
    needsSockets: true,
    checkEvery: 200,
    async open() {
      const running = await startMaster();
      const port = portOf(running);
      const connections: ZmtpPeer[] = [];
      await running.checkService();
      return {
        feed: (random, note) => attack(random, { note, port, connections, types }),
        checkService: () => running.checkService(),
        async close() {
          for (const peer of connections) peer.close();
          await running.close();
        },
      };
    },
  };
}

async function attack(
  random: Random,
  { note, port, connections, types }: { note: Note; port: number; connections: ZmtpPeer[]; types: readonly string[] },
): Promise<string> {
  const validStart = random.chance(0.7);
  const type = random.pick(validStart ? types : SOCKET_TYPES);
  const start = join([greeting(), ready(type)]);
  const talk = Array.from({ length: random.length(6) }, () => conversation(random));
  const whole = join([validStart ? start : mutateBytes(random, start), ...talk]);
  const sent = random.chance(0.3) ? mutateBytes(random, whole) : whole;
  note(sent);
  const peer = await ZmtpPeer.connect(port);
  // In pieces, as the network may deliver them.
  const cut = random.int(sent.length + 1);
  const taken = await peer.send(sent.subarray(0, cut)) && await peer.send(sent.subarray(cut));
  connections.push(peer);
  if (connections.length > MAX_CONNECTIONS) connections.splice(random.int(connections.length), 1)[0].close();
  return taken ? "sent" : "cut off";
}

/** Peers that violate ZMTP on the request port. */
export const zmtpRequests: FuzzTarget = hostile("zmtp_4506", ({ ports }) => ports.requestPort, [
  "REQ",
  "DEALER",
]);
/** Peers that violate ZMTP on the publish port. */
export const zmtpPublishes: FuzzTarget = hostile("zmtp_4505", ({ ports }) => ports.publishPort, [
  "SUB",
  "XSUB",
]);
