import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { parseAllowEntry } from '#platform/outbound/address-policy.ts'
import { group, listOf, oneOf, optional, text, webAddress, whole } from './variables.ts'

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** The address that the service listens on, its limits and timeouts, and the addresses that it may reach. */
export const server = group({
  variables: {
    HOST: text('127.0.0.1', 'an IP address or a host name to listen on', { check: isHost }),
    PORT: whole(8080, 0, 65_535),
    BASE_URL: webAddress(),
    RATE_LIMIT_GENERAL: whole(100, 0, 1_000_000),
    RATE_LIMIT_CHAT: whole(20, 0, 1_000_000),
    RATE_LIMIT_BROWSER: whole(50, 0, 1_000_000),
    RATE_LIMIT_BULK: whole(10, 0, 1_000_000),
    TRUST_PROXY: optional('IP addresses or CIDR ranges, separated by commas', {
      check: value => listOf(value).every(isAddressRange),
    }),
    OUTBOUND_ALLOW: optional('hosts, IP addresses or CIDR ranges, separated by commas'),
    LOG_LEVEL: oneOf(logLevels, 'info'),
  },
  problems: ({ OUTBOUND_ALLOW }) =>
    listOf(OUTBOUND_ALLOW).flatMap(entry => {
      const parsed = parseAllowEntry(entry)
      return parsed.kind === 'invalid' ? [`OUTBOUND_ALLOW: ${parsed.problem}`] : []
    }),
  read: environment => ({
    host: environment.HOST,
    port: environment.PORT,
    baseUrl: environment.BASE_URL?.replace(/\/+$/, ''),
    /** Requests per minute; 0 for no limit. */
    rateLimits: {
      general: environment.RATE_LIMIT_GENERAL,
      chat: environment.RATE_LIMIT_CHAT,
      browser: environment.RATE_LIMIT_BROWSER,
      bulk: environment.RATE_LIMIT_BULK,
    },
    trustProxy: listOf(environment.TRUST_PROXY),
    outboundAllow: listOf(environment.OUTBOUND_ALLOW),
    logLevel: environment.LOG_LEVEL,
  }),
})

/** True for the syntax of a host; only listening shows whether it is this machine's. */
function isHost(value: string): boolean {
  return isIP(value) !== 0 || /^[\w-]+(?:\.[\w-]+)*\.?$/.test(value)
}

/** Rejects short spellings: `1` would be the address 0.0.0.1, but means a number of proxies, which is not supported here. */
function isAddressRange(value: string): boolean {
  const [base = '', ...length] = value.split('/')
  return isIP(base) !== 0 && (length.length === 0 || ipaddr.isValidCIDR(value))
}
