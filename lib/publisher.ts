/**
 * The thread behind port 4505: takes loads from the MWorkers, numbers, encrypts and signs them, and publishes.
 *
 * One thread does it, because minions refuse a serial that is not above the last one: numbered by several threads, two
 * jobs could overtake each other on their way to the PUB socket, and the slower would be lost.
 * @module
 */

import { removeSocketFile } from "./event_bus.ts";
import { publishPullPath } from "./master_paths.ts";
import { decode, encode } from "./msgpack.ts";
import type { MasterOpts } from "./options.ts";
import { unpackOpts } from "./opts_transfer.ts";
import { tcpAddress } from "./request_channel.ts";
import { PrivateKey } from "./rsa.ts";
import { SharedKey } from "./shared_key.ts";
import { Inbox, Outbox } from "./sockets.ts";
import { serveThread, surviveErrors } from "./thread.ts";
import { isMap, map } from "./value.ts";

/** What the publisher starts with. */
export interface PublisherInit {
  /** The master's packed options. */
  readonly opts: Uint8Array;
  /** The memory of the shared key. */
  readonly sharedKey: SharedArrayBuffer;
  /** The master's private key, which signs. */
  readonly masterPem: string;
}

/** What the publisher tells when it listens. */
export interface PublisherReady {
  /** The port that minions are to be told. */
  readonly publishPort: number;
}

serveThread<PublisherInit>(async (init, host) => {
  surviveErrors(host.log);
  const opts = unpackOpts<MasterOpts>(init.opts);
  const key = PrivateKey.fromPem(init.masterPem);
  const sharedKey = new SharedKey(init.sharedKey);
  const inbox = Inbox.pull({ highWaterMark: 0 });
  const path = publishPullPath(opts.sock_dir);
  const outbox = Outbox.publisher({
    highWaterMark: opts.pub_hwm,
    backlog: opts.zmq_backlog,
    heartbeatIntervalMs: 10_000,
    heartbeatTimeoutMs: 30_000,
    ipv6: opts.ipv6 ?? undefined,
  });
  await outbox.bind(tcpAddress(opts.interface, opts.publish_port));
  await inbox.bind(`ipc://${path}`);
  Deno.chmodSync(path, 0o600);
  const ready: PublisherReady = { publishPort: Number(outbox.address.split(":").at(-1)) };
  host.post(ready);

  let published = 0;
  const running = serve().catch((error) => host.fail(error instanceof Error ? error.message : String(error)));

  async function serve(): Promise<void> {
    for (;;) {
      const frames = await inbox.receive();
      if (frames === undefined) return;
      try {
        await outbox.send([wrap(frames[0])]);
        published++;
      } catch (error) {
        host.log.error(`Could not publish a job: ${error instanceof Error ? error.message : error}`);
      }
    }
  }

  function wrap(frame: Uint8Array): Uint8Array {
    const load = decode(frame, "disk");
    if (!isMap(load)) throw new TypeError("what came to be published is no load");
    const { crypticle, serial } = sharedKey.forPublish();
    const sealed = crypticle.dumps(new Map([...load, ["serial", serial]]));
    const envelope = map({ enc: "aes", load: sealed });
    if (opts.sign_pub_messages) {
      const algorithm = opts.publish_signing_algorithm;
      envelope.set("sig_algo", algorithm);
      envelope.set("sig", key.sign(algorithm, sealed));
    }
    return encode(envelope, "wire");
  }

  return {
    describe: () => `waiting for jobs to publish; ${published} published`,
    async close() {
      inbox.close();
      await running;
      outbox.close();
      removeSocketFile(path);
    },
  };
});
