import { describe, expect, it } from 'vitest'
import { createSecretFilter } from './hide-secrets.ts'

const basic = `Basic ${btoa('user:passw0rd!')}`
const odd = 'a"b\\c/secret+ü'

describe('a secret that a service tells back', () => {
  it.each([
    ['as it is', 'token-123', 'token-123'],
    ['without its scheme', 'Bearer token-123', 'Invalid token "token-123"'],
    ['of a cookie', 'session=token-123; theme=dark', '{"session":"token-123"}'],
    ['with white space around it', '  token-123 ', 'token-123'],
    ['of Basic, as it was sent', basic, btoa('user:passw0rd!')],
    ['of Basic, taken apart', basic, 'user has not the password passw0rd!'],
    ['in JSON', odd, JSON.stringify({ key: odd })],
    ['in JSON with escaped slashes', odd, JSON.stringify({ key: odd }).replaceAll('/', '\\/')],
    ['in an address', odd, `https://example.com/?key=${encodeURIComponent(odd)}`],
    ['in a form', 'two words more', 'key=two+words+more'],
    ['in base64', odd, Buffer.from(odd).toString('base64')],
  ])('%s is hidden', (_case, secret, told) => {
    const hidden = createSecretFilter([secret])(told)
    expect(hidden).toContain('********')
    for (const trace of ['token-123', 'passw0rd', 'secret', 'words', told])
      expect(hidden).not.toContain(trace)
  })

  it('is not looked for where it is too short to be told from chance', () => {
    expect(createSecretFilter(['a'])('a word')).toBe('a word')
  })

  it('does not hide the name of its scheme', () => {
    expect(createSecretFilter(['Bearer token-123'])('Bearer is wanted')).toBe('Bearer is wanted')
  })

  it('is hidden with all that it overlaps with, and once for each time it is told', () => {
    const hide = createSecretFilter(['one-two', 'two-three', 'one-two-x'])
    expect(hide('one-two-three, one-two-xone-two, one-two-')).toBe('********, ****************, ********-')
    expect(hide('one-tw, two-thre')).toBe('one-tw, two-thre')
  })

  it('is hidden however long it is', () => {
    const long = `${'0123456789/'.repeat(6000)}end`
    const told = JSON.stringify([long, encodeURIComponent(long)])
    expect(createSecretFilter([long])(told)).toBe('["********","********"]')
  })

  it('is hidden as far as it is told, once that is enough to recognise it by', () => {
    const secret = Array.from({ length: 50 }, (_, n) => `part-${n}`).join('/')
    expect(createSecretFilter([secret])(`${secret.slice(0, 200)}…`)).toBe('********…')
    expect(createSecretFilter([secret])(`${secret.slice(0, 60)}…`)).toBe(`${secret.slice(0, 60)}…`)
  })

  it('is hidden as a whole where its beginning stands before it', () => {
    const secret = `${'x'.repeat(64)}${'y'.repeat(30)}`
    expect(createSecretFilter([secret])(`x${secret}!`)).toBe('********!')
  })

  it.each([
    ['its beginning', `${'a'.repeat(10_000)}/${'a'.repeat(10_000)}`, true],
    ['all but its beginning', `/${'a'.repeat(20_000)}`, false],
  ])('is looked for in time, also where everything looks like %s', (_, secret, isHidden) => {
    const told = 'a'.repeat(10_000_000)
    expect(createSecretFilter([secret])(told) !== told).toBe(isHidden)
  })
})
