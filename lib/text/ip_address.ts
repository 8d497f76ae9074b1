/**
 * IP addresses as text: their kind and their order.
 * @module
 */

/** Whether `text` is an IPv4 address. */
export function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
}

/** The 32 binary digits of an IPv4 address, as of a mask. */
export function ipv4Bits(address: string): string {
  return address.split(".").map((part) => Number(part).toString(2).padStart(8, "0")).join("");
}

/** Whether `text` is an IPv6 address, with or without a zone. */
export function isIpv6(text: string): boolean {
  return expandIpv6(text) !== undefined;
}

/** The 32 hexadecimal digits of an IPv6 address; `undefined` if `text` is none. */
export function expandIpv6(text: string): string | undefined {
  let address = text.split("%", 1)[0];
  const dotted = /^(.*:)([\d.]+)$/.exec(address);
  if (dotted !== null && dotted[2].includes(".")) {
    if (!isIpv4(dotted[2])) return undefined;
    const [a, b, c, d] = dotted[2].split(".").map(Number);
    address = `${dotted[1]}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  }
  const halves = address.split("::");
  if (halves.length > 2 || !address.includes(":")) return undefined;
  const [left, right = []] = halves.map((half) => half === "" ? [] : half.split(":"));
  const missing = 8 - left.length - right.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...left, ...Array<string>(missing).fill("0"), ...right];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return groups.map((group) => group.toLowerCase().padStart(4, "0")).join("");
}

/** Sorts addresses of one kind by number and removes duplicates. */
export function sortAddresses(addresses: readonly string[]): string[] {
  const key = (address: string) =>
    expandIpv6(address) ?? address.split(".").map((part) => part.padStart(3, "0")).join("");
  return [...new Set(addresses)].sort((a, b) => key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);
}

/** Formats an address of 8 or 32 hexadecimal digits. */
export function addressText(digits: string): string {
  if (digits.length === 8) return (digits.match(/../g) ?? []).map((octet) => parseInt(octet, 16)).join(".");
  if (digits.length !== 32) return digits;
  const groups = digits.match(/.{4}/g) ?? [];
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1); // URL writes the shortest form
}
