import { describe, expect, it } from 'vitest'
import { createAddressPolicy, parseAllowEntry } from './address-policy.ts'

const { permits } = createAddressPolicy([])

/** 0 to `last`. */
function upTo(last: number): number[] {
  return Array.from({ length: last + 1 }, (_, value) => value)
}

/** Which of the numbers 0 to 255, put into the text in place of `n`, give an address that is refused. */
function refused(pattern: string): number[] {
  return upTo(255).filter(value => !permits(pattern.replace('n', String(value))))
}

describe('IPv4', () => {
  it('refuses the whole blocks 0, 10, 127 and everything from 224 on, and no other block', () => {
    expect(refused('n.1.2.3')).toEqual([0, 10, 127, ...upTo(31).map(step => 224 + step)])
  })

  it.each([
    ['100.n.0.1', 64, 127],
    ['172.n.0.1', 16, 31],
    ['169.n.0.1', 254, 254],
    ['192.n.0.1', 168, 168],
    ['198.n.0.1', 18, 19],
    ['198.51.n.1', 100, 100],
    ['203.0.n.1', 113, 113],
    ['192.88.n.1', 99, 99],
  ])('refuses exactly %s from %i to %i', (pattern, first, last) => {
    // 192.0.0/24 lies in the pattern of 192.168/16, so it is seen there as well.
    const others = pattern === '192.n.0.1' ? [0] : []
    expect(refused(pattern)).toEqual([...others, ...upTo(last - first).map(step => first + step)])
  })

  it('refuses 192.0.0/24 and 192.0.2/24 and nothing between', () => {
    expect(refused('192.0.n.1')).toEqual([0, 2])
  })

  it.each([
    ['10.0.0.0/8', '9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
    ['100.64.0.0/10', '100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
    ['127.0.0.0/8', '126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
    ['169.254.0.0/16', '169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
    ['172.16.0.0/12', '172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
    ['192.0.0.0/24', '191.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
    ['192.0.2.0/24', '192.0.1.255', '192.0.2.0', '192.0.2.255', '192.0.3.0'],
    ['192.168.0.0/16', '192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
    ['198.18.0.0/15', '198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
    ['198.51.100.0/24', '198.51.99.255', '198.51.100.0', '198.51.100.255', '198.51.101.0'],
    ['203.0.113.0/24', '203.0.112.255', '203.0.113.0', '203.0.113.255', '203.0.114.0'],
    ['168.63.129.16/32', '168.63.129.15', '168.63.129.16', '168.63.129.16', '168.63.129.17'],
  ])('refuses %s from its first to its last address', (_range, before, first, last, after) => {
    expect([before, first, last, after].map(address => permits(address))).toEqual([true, false, false, true])
  })

  it('refuses the edges that have no public neighbour', () => {
    const edges = ['0.0.0.0', '0.255.255.255', '224.0.0.0', '239.255.255.255', '240.0.0.0', '255.255.255.255']
    expect(edges.filter(address => permits(address))).toEqual([])
  })
})

describe('IPv6', () => {
  it.each([
    '2606:4700:4700::1111',
    '2001:4860:4860::8888',
    '2a00:1450:4001:82a::200e',
    '2000::1',
    '2620:fe::fe',
    '3ffe:ffff::1',
  ])('permits %s', address => {
    expect(permits(address)).toBe(true)
  })

  it.each([
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['loopback at length', '0:0:0:0:0:0:0:1'],
    ['unique local', 'fc00::1'],
    ['unique local', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['metadata of AWS', 'fd00:ec2::254'],
    ['link local', 'fe80::1'],
    ['link local', 'febf:ffff::1'],
    ['link local with a zone', 'fe80::1%eth0'],
    ['a public address with a zone', '2606:4700:4700::1111%eth0'],
    ['site local', 'fec0::1'],
    ['multicast', 'ff02::1'],
    ['discard only', '100::1'],
    ['dummy prefix', '100:0:0:1::1'],
    ['documentation', '2001:db8::1'],
    ['documentation', '3fff::1'],
    ['documentation', '3fff:fff:ffff::1'],
    ['benchmarking', '2001:2::1'],
    ['ORCHID', '2001:10::1'],
    ['ORCHIDv2', '2001:20::1'],
    ['protocol assignments', '2001:1ff::1'],
    ['segment routing', '5f00::1'],
    ['not assigned', '4000::1'],
    ['not assigned', '1fff:ffff::1'],
    ['not assigned', '200::1'],
  ])('refuses %s: %s', (_what, address) => {
    expect(permits(address)).toBe(false)
  })
})

/** Every form in which an IPv6 address can hold this IPv4 address. */
function embeddings(ipv4: string): Record<string, string> {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number)
  const hex = (high: number, low: number) => (high * 256 + low).toString(16)
  const [upper, lower] = [hex(a, b), hex(c, d)]
  return {
    mapped: `::ffff:${ipv4}`,
    mappedInHex: `::ffff:${upper}:${lower}`,
    nat64: `64:ff9b::${upper}:${lower}`,
    nat64Dotted: `64:ff9b::${ipv4}`,
    localNat64: `64:ff9b:1::${upper}:${lower}`,
    localNat64Split: `64:ff9b:1:${upper}:${hex(0, c)}:${hex(d, 0)}::`,
    translated: `::ffff:0:${ipv4}`,
    compatible: `::${ipv4}`,
    compatibleInHex: `::${upper}:${lower}`,
    sixToFour: `2002:${upper}:${lower}::1`,
    teredo: `2001:0:4136:e378:8000:63bf:${hex(255 - a, 255 - b)}:${hex(255 - c, 255 - d)}`,
  }
}

describe('IPv4 inside IPv6', () => {
  it.each([
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '192.168.1.1',
    '100.64.0.1',
    '0.0.0.0',
    '168.63.129.16',
  ])('refuses %s in every form', ipv4 => {
    const permitted = Object.entries(embeddings(ipv4)).filter(([, address]) => permits(address))
    expect(permitted).toEqual([])
  })

  it('permits a public one only where the packet ends up there', () => {
    const permitted = Object.entries(embeddings('8.8.8.8')).filter(([, address]) => permits(address))
    expect(permitted.map(([form]) => form)).toEqual(['mapped', 'mappedInHex', 'nat64', 'nat64Dotted'])
  })
})

it.each([
  '',
  'localhost',
  'example.com',
  '127.1',
  '8.8.8',
  '0177.0.0.1',
  '010.8.8.8',
  '0x8.8.8.8',
  '134744072',
  ' 8.8.8.8',
  '8.8.8.8/32',
  '[2606:4700::1]',
  '1:2:3',
])('refuses %j, which is no IP address', text => {
  expect(permits(text)).toBe(false)
})

describe('allow entries', () => {
  it('open a range and nothing beside it', () => {
    const policy = createAddressPolicy(['10.1.0.0/16', 'fd00:1::/32', '192.168.7.7', '::1'])
    const open = ['10.1.0.0', '10.1.255.255', 'fd00:1:2::3', '192.168.7.7', '::1']
    const shut = ['10.0.255.255', '10.2.0.0', 'fd00:2::1', '192.168.7.8', '127.0.0.1', '::2']
    expect(open.filter(address => !policy.permits(address))).toEqual([])
    expect(shut.filter(address => policy.permits(address))).toEqual([])
  })

  it('open a range of IPv4 also where the packet ends up there, and not in look-alikes', () => {
    const policy = createAddressPolicy(['127.0.0.0/8'])
    const permitted = Object.entries(embeddings('127.0.0.1')).filter(([, address]) => policy.permits(address))
    expect(permitted.map(([form]) => form)).toEqual(['mapped', 'mappedInHex', 'nat64', 'nat64Dotted'])
  })

  it('open whatever a named host resolves to', () => {
    const policy = createAddressPolicy(['Intranet.Example.', 'bücher.example'])
    expect(policy.permits('10.0.0.1', 'intranet.example')).toBe(true)
    expect(policy.permits('::1', 'INTRANET.example.')).toBe(true)
    expect(policy.permits('10.0.0.1', 'xn--bcher-kva.example')).toBe(true)
    expect(policy.permits('10.0.0.1', 'sub.intranet.example')).toBe(false)
    expect(policy.permits('10.0.0.1', 'intranet.example.com')).toBe(false)
    expect(policy.permits('10.0.0.1')).toBe(false)
  })

  it('leave public addresses reachable', () => {
    expect(createAddressPolicy(['10.0.0.0/8']).permits('8.8.8.8')).toBe(true)
  })

  it.each([
    ['', 'is no host name'],
    ['  ', 'is no host name'],
    ['http://intranet.example', 'neither a host name nor a range'],
    ['intranet.example:8080', 'without scheme, port and path'],
    ['127.0.0.1:8080', 'without scheme, port and path'],
    ['[::1]', 'without scheme, port and path'],
    ['user@intranet.example', 'without scheme, port and path'],
    ['two words', 'without scheme, port and path'],
    ['*.example.com', 'has a wildcard'],
    ['10.0.0.0/33', 'neither a host name nor a range'],
    ['10.0.0.0/', 'neither a host name nor a range'],
    ['10/8', 'neither a host name nor a range'],
    ['fd00::/129', 'neither a host name nor a range'],
    ['fe80::1%eth0', 'is no host name'],
    ['127.1', 'is an unusual spelling of 127.0.0.1'],
    ['0x7f.0.0.1', 'is an unusual spelling of 127.0.0.1'],
  ])('report %j: %s', (text, problem) => {
    expect(parseAllowEntry(text)).toEqual({ kind: 'invalid', problem: expect.stringContaining(problem) })
    expect(() => createAddressPolicy([text])).toThrow(problem)
  })

  it('may have white space around', () => {
    expect(parseAllowEntry(' intranet.example ')).toEqual({ kind: 'host', host: 'intranet.example' })
  })
})
