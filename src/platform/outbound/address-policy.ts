import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]

/** One entry of OUTBOUND_ALLOW: a range of addresses, a host by its name, or a problem as a sentence for the operator. */
export type AllowEntry =
  | { kind: 'range'; range: Range }
  | { kind: 'host'; host: string }
  | { kind: 'invalid'; problem: string }

/** Decides on addresses for users, agents and pages. Knows no DNS: give it the addresses of a name. */
export interface AddressPolicy {
  /** `address`: an IP address as text, anything else is refused. `hostname`: the name that resolved to it, if one did. */
  permits(address: string, hostname?: string): boolean
  /** Returns true if an entry names the address, or the host that resolved to it. */
  allows(address: string, hostname: string): boolean
  /** Returns true if an entry names this host. */
  names(hostname: string): boolean
}

/** All of IPv6 that networks get; the rest is special or not assigned (IANA, IPv6 address space). */
const globalIpv6 = ipaddr.parseCIDR('2000::/3')

/** The prefix by which machines without IPv4 reach its addresses (RFC 6052), as public as those inside. */
const nat64 = ipaddr.parseCIDR('64:ff9b::/96')

/** Azure's metadata and configuration host: every machine there reaches it, although it looks public. */
const platformHosts = ipaddr.parseCIDR('168.63.129.16/32')

/**
 * Permits global unicast addresses, and the entries of `allow`. An IPv4 address inside an IPv6 one must be
 * permitted itself; where the two lead to different places (6to4, Teredo, IPv4-compatible and the like) both
 * are refused. Throws on an entry that `parseAllowEntry` calls invalid: the configuration reports it.
 */
export function createAddressPolicy(allow: readonly string[]): AddressPolicy {
  const ranges: Range[] = []
  const hosts = new Set<string>()
  for (const text of allow) {
    const entry = parseAllowEntry(text)
    if (entry.kind === 'invalid') throw new Error(entry.problem)
    if (entry.kind === 'range') ranges.push(entry.range)
    else hosts.add(entry.host)
  }
  const names = (hostname: string) => hosts.has(hostKey(hostname))
  const allowed = (address: Address, hostname: string | undefined) => {
    if (hostname !== undefined && names(hostname)) return true
    const forms = [address, carriedIpv4(address) ?? address]
    return forms.some(form => ranges.some(range => within(form, range)))
  }
  return {
    names,
    allows(text, hostname) {
      const address = parseAddress(text)
      return address !== undefined && allowed(address, hostname)
    },
    permits(text, hostname) {
      const address = parseAddress(text)
      return address !== undefined && (allowed(address, hostname) || isPublic(address))
    },
  }
}

/** Reads one host name, IP address or CIDR range. */
export function parseAllowEntry(text: string): AllowEntry {
  const entry = text.trim()
  const invalid = (issue: string): AllowEntry => ({ kind: 'invalid', problem: `"${entry}" ${issue}` })
  const slash = entry.indexOf('/')
  if (slash !== -1) {
    const base = parseAddress(entry.slice(0, slash))
    if (base !== undefined && ipaddr.isValidCIDR(entry)) {
      return { kind: 'range', range: [base, ipaddr.parseCIDR(entry)[1]] }
    }
    return invalid('is neither a host name nor a range such as 10.0.0.0/8.')
  }
  const address = parseAddress(entry)
  if (address !== undefined) return { kind: 'range', range: [address, address.kind() === 'ipv4' ? 32 : 128] }
  if (entry.includes('*')) return invalid('has a wildcard: name each host, or a range such as 10.0.0.0/8.')
  const host = /[\s:?#@\\]/u.test(entry) ? undefined : URL.parse(`http://${entry}/`)?.hostname
  if (host === undefined) return invalid('is no host name: write it without scheme, port and path.')
  // The URL parser reads short and octal spellings of IPv4, such as 127.1, which would otherwise count as names.
  if (isIP(host) !== 0) return invalid(`is an unusual spelling of ${host}: write that instead.`)
  return { kind: 'host', host: hostKey(host) }
}

/** Returns the same key for names that differ in case and in the dot that ends a fully qualified one. */
function hostKey(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, '')
}

/** Returns undefined for all but exact IP addresses: for octal and short forms and zones (`fe80::1%eth0`). */
function parseAddress(text: string): Address | undefined {
  const version = isIP(text)
  if (version === 4) return ipaddr.IPv4.parse(text)
  // ipaddr.js takes ::1.2.3.4 for ::ffff:1.2.3.4, a different address; the URL parser's spelling has no dotted part.
  const host = version === 6 ? URL.parse(`http://[${text}]/`)?.hostname : undefined
  return host === undefined ? undefined : ipaddr.IPv6.parse(host.slice(1, -1))
}

function isPublic(address: Address): boolean {
  const carried = carriedIpv4(address)
  if (carried !== undefined) return isPublic(carried)
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' ? !within(address, platformHosts) : within(address, globalIpv6)
}

/** Returns the IPv4 address at which a packet to this IPv6 address arrives; undefined without one. */
function carriedIpv4(address: Address): ipaddr.IPv4 | undefined {
  if (address.kind() === 'ipv4') return undefined
  const isCarrier = address.range() === 'ipv4Mapped' || within(address, nat64)
  return isCarrier ? new ipaddr.IPv4(address.toByteArray().slice(-4)) : undefined
}

function within(address: Address, range: Range): boolean {
  return address.kind() === range[0].kind() && address.match(range)
}
