import { describe, expect, it } from 'vitest'
import { heldBack } from './egress.ts'
import { isWritten } from './written-address.ts'

const page = 'See https://a.example/data?x=1 and shop.example.'

describe('an address', () => {
  it.each([
    ['https://a.example/data?x=1', page],
    ['HTTPS://A.EXAMPLE:443/data?x=1', page],
    ['https://a.example/~ann', 'https://a.example/%7Eann'],
    ['https://a.example/%7Eann', 'https://a.example/%7Eann'],
    ['https://a.example/caf%C3%A9', 'https://a.example/café'],
    ['https://shop.example/', page],
    ['https://a.example/p', '总结https://a.example/p的内容'],
    ['https://a.example/p', 'https://a.example/p—see'],
    ['https://shop.example/', '在shop.example上'],
    ['https://shop.example/p', JSON.stringify('See:\nshop.example/p')],
  ])('%s is written in %j', (address, text) => {
    expect(isWritten(new URL(address), text)).toBe(true)
  })

  it.each([
    // Each letter that is encoded, or not, would be a bit.
    ['https://a.example/d%61ta?x=1', page],
    ['https://a.example/%64ata?x=1', page],
    ['https://a.example/caf%c3%a9', 'https://a.example/café'],
    ['https://a.example/?a=1&amp;b=2', 'https://a.example/?a=1&b=2'],
    ['https://a.example/data', page],
    ['https://a.example/data?x=12', page],
    ['https://a.example:8443/data?x=1', page],
    ['https://ann@a.example/data?x=1', page],
    ['https://notshop.example/', page],
    ['https://shop.example.evil.example/', page],
  ])('%s is not written in %j', (address, text) => {
    expect(isWritten(new URL(address), text)).toBe(false)
  })
})

describe('a host of the setting browse_hosts', () => {
  const isFree = (address: string, listed: string) =>
    heldBack(
      { to: address, carries: 'nothing' },
      { url: address },
      {
        messages: [],
        tools: [],
        hosts: [listed],
        hasOwnData: false,
      },
    ) === undefined

  it.each([
    ['https://shop.example/x', 'shop.example'],
    ['https://shop.example:8443/x', 'shop.example'],
    ['https://shop.example/x', 'shop.example:443'],
    ['http://shop.example/x', 'shop.example:80'],
    ['https://shop.example:8443/x', 'shop.example:8443'],
    ['https://a.shop.example/x', '*.shop.example'],
  ])('frees %s by %s', (address, listed) => {
    expect(isFree(address, listed)).toBe(true)
  })

  it.each([
    ['https://shop.example/x', 'shop.example:80'],
    ['http://shop.example/x', 'shop.example:443'],
    ['https://shop.example:8443/x', 'shop.example:443'],
    ['https://evilshop.example/x', '*.shop.example'],
    ['https://shop.example/x', '*.shop.example'],
    ['https://shop.example.evil.example/x', 'shop.example'],
  ])('does not free %s by %s', (address, listed) => {
    expect(isFree(address, listed)).toBe(false)
  })
})
