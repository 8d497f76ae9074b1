/**
 * The open sockets of the host from the output of `netstat` or `ss`, in the form of Salt's `network.netstat`.
 * Source: Salt 3008.3, `salt/modules/network.py`; netstat(8), ss(8).
 * @module
 */

/** One socket; only TCP has a state. */
export interface OpenSocket {
  readonly proto: string;
  readonly "recv-q": string;
  readonly "send-q": string;
  readonly "local-address": string;
  readonly "remote-address": string;
  readonly state?: string;
  readonly user: string | number;
  readonly inode: string | number;
  readonly program: string;
}

/** Parses the output of `netstat -tulpnea`. */
export function parseNetstat(text: string): OpenSocket[] {
  return text.split("\n").flatMap((line) => {
    const [proto, received, sent, local, remote, ...rest] = line.trim().split(/\s+/);
    const isTcp = line.startsWith("tcp");
    if (!isTcp && !line.startsWith("udp")) return [];
    const [user, inode, program = ""] = isTcp ? rest.slice(1) : rest;
    return [{
      proto,
      "recv-q": received,
      "send-q": sent,
      "local-address": local,
      "remote-address": remote,
      ...isTcp && { state: rest[0] },
      user,
      inode,
      program,
    }];
  });
}

/** Parses the output of `ss -tulpnea`. */
export function parseSs(text: string): OpenSocket[] {
  return text.split("\n").flatMap((line) => {
    const words = line.trim().split(/\s+/);
    const isTcp = line.startsWith("tcp");
    if (!isTcp && !line.startsWith("udp")) return [];
    const [proto, state, received, sent, local, remote] = words;
    // As in Salt, the last word is ignored.
    const fields = words.slice(6, -1).map((word) => word.split(":"));
    const last = (name: string) => fields.findLast(([key]) => key === name)?.[1];
    return [{
      proto,
      "recv-q": received,
      "send-q": sent,
      "local-address": local,
      "remote-address": remote,
      ...isTcp && { state: state === "ESTAB" ? "ESTABLISHED" : state },
      user: last("uid") ?? 0,
      inode: last("ino") ?? 0,
      program: last("users")?.split(",")[0].split('"')[1] ?? "",
    }];
  });
}
