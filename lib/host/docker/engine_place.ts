/**
 * Where the engine of Docker is: from the option `docker.url`, else from DOCKER_HOST, else its usual socket.
 * Source: docs.docker.com, "Configure remote access for Docker daemon"; Salt 3006.28 `salt/modules/dockermod.py`.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { InvocationError } from "#lib/errors.ts";

/** The socket of an engine that is not configured otherwise. */
const USUAL_SOCKET = "/var/run/docker.sock";

/** Where an engine is. */
export interface EnginePlace {
  /** The address as it is shown: `unix:///var/run/docker.sock`. */
  readonly shown: string;
  /** The address of requests, without a path. */
  readonly origin: string;
  /** The Unix socket, if it is one. */
  readonly socket?: string;
  /** The version of the engine's interface that is asked for, `1.41`. Default: the newest of the engine. */
  readonly version?: string;
}

/** @throws {InvocationError} If the address or the version is none. */
export function enginePlace(address: string | undefined, version?: string): EnginePlace {
  if (version !== undefined && !/^\d+\.\d+$/.test(version)) {
    throw new InvocationError(`docker.version is not a version such as 1.41: ${version}`);
  }
  const versioned = version === undefined ? {} : { version };
  const text = (address ?? "").trim();
  const unix = /^(?:http\+)?unix:\/\/(.*)$/.exec(text);
  if (text === "" || unix !== null) {
    const path = rstripChars(unix?.[1] ?? "", "/") || USUAL_SOCKET;
    const socket = path.startsWith("/") ? path : `/${path}`;
    // The runtime looks the host up although it connects to the socket: any other name would ask DNS.
    return { shown: `unix://${socket}`, origin: "http://localhost", socket, ...versioned };
  }
  const url = URL.parse(/^\w+:\/\//.test(text) ? text.replace(/^tcp:/, "http:") : `http://${text}`);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.port !== "" && url.username === "" &&
    /^\/?$/.test(url.pathname) && url.search === "" && url.hash === "";
  if (!isPlain) throw new InvocationError(`The address of Docker's engine is neither unix://PATH nor tcp://HOST:PORT`);
  return { shown: text, origin: url.origin, ...versioned };
}
