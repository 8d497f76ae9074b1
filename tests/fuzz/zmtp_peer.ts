/**
 * A peer with its own implementation of ZMTP 3.1 over TCP, so that it can violate the protocol. Does not know Salt.
 * Source: rfc.zeromq.org, 23/ZMTP and 37/ZMTP.
 * @module
 */

const utf8 = new TextEncoder();

const MORE = 0x01, LONG = 0x02, COMMAND = 0x04;

/** The 64 bytes that a valid peer sends first. */
export function greeting(): Uint8Array {
  const bytes = new Uint8Array(64);
  bytes.set([0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 3, 1]);
  bytes.set(utf8.encode("NULL"), 12);
  return bytes;
}

/**
 * One frame.
 * @param flags `MORE` or `COMMAND` bits; the bit for a long length is added if needed.
 */
export function frame(body: Uint8Array, flags = 0): Uint8Array {
  const long = body.length > 255;
  const bytes = new Uint8Array((long ? 9 : 2) + body.length);
  bytes[0] = flags | (long ? LONG : 0);
  if (long) new DataView(bytes.buffer).setBigUint64(1, BigInt(body.length));
  else bytes[1] = body.length;
  bytes.set(body, long ? 9 : 2);
  return bytes;
}

/** A command: `READY`, `PING`, `SUBSCRIBE`, … */
export function command(name: string, data: Uint8Array = new Uint8Array()): Uint8Array {
  return frame(join([Uint8Array.of(name.length), utf8.encode(name), data]), COMMAND);
}

/** The `READY` command of a socket of that type. */
export function ready(socketType: string): Uint8Array {
  const property = (name: string, value: string) =>
    join([Uint8Array.of(name.length), utf8.encode(name), Uint8Array.of(0, 0, 0, value.length), utf8.encode(value)]);
  return command("READY", join([property("Socket-Type", socketType), property("Identity", "")]));
}

/** A message of several frames. */
export function message(parts: readonly Uint8Array[]): Uint8Array {
  return join(parts.map((part, i) => frame(part, i < parts.length - 1 ? MORE : 0)));
}

/** Concatenates `parts`. */
export function join(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A connection. */
export class ZmtpPeer {
  readonly #connection: Deno.TcpConn;
  #received = new Uint8Array();
  #ended = false;

  private constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
  }

  /** Connects; sends nothing. */
  static async connect(port: number): Promise<ZmtpPeer> {
    return new ZmtpPeer(await Deno.connect({ hostname: "127.0.0.1", port }));
  }

  /** Connects and completes the handshake as a valid socket of that type. */
  static async open(port: number, socketType: string): Promise<ZmtpPeer> {
    const peer = await ZmtpPeer.connect(port);
    await peer.send(join([greeting(), ready(socketType)]));
    await peer.#bytes(64);
    await peer.#frame(); // the READY of the other side
    return peer;
  }

  /**
   * Writes bytes unchanged.
   * @returns Whether the other side still accepted them.
   */
  async send(bytes: Uint8Array): Promise<boolean> {
    try {
      for (let at = 0; at < bytes.length;) at += await this.#connection.write(bytes.subarray(at));
      return true;
    } catch {
      return false; // the other side may close the connection
    }
  }

  /**
   * The next message; pings are answered.
   * @throws {Error} If the connection ends, or nothing comes in `withinMs`.
   */
  async receive(withinMs: number): Promise<Uint8Array[]> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no reply in ${withinMs} ms`)), withinMs);
    });
    try {
      return await Promise.race([this.#message(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #message(): Promise<Uint8Array[]> {
    const parts: Uint8Array[] = [];
    for (;;) {
      const { flags, body } = await this.#frame();
      if ((flags & COMMAND) !== 0) {
        if (new TextDecoder().decode(body.subarray(1, 5)) === "PING") {
          await this.send(command("PONG", body.subarray(7)));
        }
        continue;
      }
      parts.push(body);
      if ((flags & MORE) === 0) return parts;
    }
  }

  async #frame(): Promise<{ flags: number; body: Uint8Array }> {
    const [flags] = await this.#bytes(1);
    const size = await this.#bytes((flags & LONG) !== 0 ? 8 : 1);
    return { flags, body: await this.#bytes(size.reduce((sum, byte) => sum * 256 + byte, 0)) };
  }

  async #bytes(count: number): Promise<Uint8Array> {
    while (this.#received.length < count) {
      const chunk = new Uint8Array(65_536);
      const read = this.#ended ? null : await this.#connection.read(chunk);
      if (read === null) {
        this.#ended = true;
        throw new Error("the master closed the connection");
      }
      this.#received = new Uint8Array(join([this.#received, chunk.subarray(0, read)]));
    }
    const bytes = this.#received.slice(0, count);
    this.#received = this.#received.slice(count);
    return bytes;
  }

  close(): void {
    try {
      this.#connection.close();
    } catch {
      // Closed already.
    }
  }
}
