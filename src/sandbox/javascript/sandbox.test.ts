import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createLog } from '#platform/logging/log.ts'
import { createOutbound } from '#platform/outbound/outbound.ts'
import type { RunResult } from './outcome.ts'
import { createSandbox, type SandboxRun } from './sandbox.ts'

const log = createLog('silent')
const outbound = createOutbound({ allow: ['127.0.0.1'], userAgent: 'test/1' })
const sandbox = createSandbox({ log, fetch: outbound.fetch })
const servers: Server[] = []

afterAll(async () => {
  await sandbox.close()
  await outbound.close()
})

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

/** A server on loopback; gives its origin. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function run(code: string, rest: Partial<SandboxRun> = {}): Promise<RunResult> {
  return sandbox.run({ code, argument: {}, owner: 'test', ...rest })
}

async function returned(code: string, argument: unknown = {}): Promise<unknown> {
  const result = await run(code, { argument })
  if (result.outcome !== 'returned') throw new Error(result.message)
  return result.value
}

async function failureOf(code: string, rest: Partial<SandboxRun> = {}): Promise<[string, string]> {
  const result = await run(code, rest)
  if (result.outcome === 'returned') throw new Error(`It returned ${JSON.stringify(result.value)}.`)
  return [result.outcome, result.message]
}

describe('values', () => {
  it('is the body of an async function of args, whose value comes back', async () => {
    const code = 'const sum = await Promise.resolve(args.one + args.two)\nreturn { sum } // the end'
    expect(await returned(code, { one: 1, two: 2 })).toEqual({ sum: 3 })
  })

  it.each(['', 'return', 'return undefined', 'return null'])('%j gives null', async code => {
    expect(await returned(code)).toBeNull()
  })

  it('what JSON can hold comes in and goes out unharmed', async () => {
    const argument = JSON.parse(
      '{"__proto__": {"a": 1}, "texts": ["\\u0000", "\\ud800", "é€😀", "\\u2028"], "constructor": 1}',
    )
    expect(JSON.stringify(await returned('return args', argument))).toBe(JSON.stringify(argument))
  })

  it.each([
    ['return () => 1', 'it is a function: call it'],
    ['return Symbol("s")', 'it is a symbol'],
    ['return 5n', 'it is a bigint: write String(value)'],
    ['return { list: [{ act() {} }] }', '"act" is a function'],
    ['const a = {}; a.a = a; return a', 'it contains itself'],
    ['return NaN', 'it is NaN'],
    ['return { rate: 1 / 0 }', '"rate" is Infinity'],
    ['return { p: fetch("http://127.0.0.1/").catch(() => 1) }', '"p" is a promise: write await before it'],
    ['return [new Map([["a", 1]])]', '"0" is a Map: write Object.fromEntries(map)'],
    ['return { s: new Set([1]) }', '"s" is a Set: write [...set]'],
    ['class Own extends Map {} return new Own()', 'it is a Map'],
    [
      'return { error: Object.assign(new TypeError("no"), { code: 1 }) }',
      '"error" is an Error: write String(error)',
    ],
    ['return { at: new Date("?") }', '"at" is an invalid Date'],
    ['return { bytes: new TextEncoder().encode("a") }', '"bytes" is an array of bytes'],
    ['return { n: new BigInt64Array(1) }', '"n" is an array of bytes'],
    ['return new ArrayBuffer(2)', 'it is an ArrayBuffer'],
    ['return { r: /a/ }', '"r" is a RegExp: write String(expression)'],
    ['return new URLSearchParams("a=1")', 'it is an object without fields of its own'],
    ['return { w: new WeakMap() }', '"w" is an object without fields of its own'],
    ['return [[1].values()]', '"0" is an object without fields of its own'],
    ['return new Intl.NumberFormat("de")', 'it is an object without fields of its own'],
  ])('%s is refused as no JSON', async (code, reason) => {
    const [outcome, message] = await failureOf(code)
    expect(outcome).toBe('threw')
    expect(message).toMatch(/^The returned value is no JSON: .*\.$/)
    expect(message).toContain(`: ${reason}`)
  })

  it('objects of own classes, dates and addresses are kept as their fields and texts', async () => {
    const code = `class Point { x = 1; #secret = 2; get far() { return 3 } }
      return [new Point(), new Date(0), new URL('http://a/'), Object.create(null), new Number(5), { u: undefined }]`
    expect(await returned(code)).toEqual([{ x: 1 }, '1970-01-01T00:00:00.000Z', 'http://a/', {}, 5, {}])
  })

  it('what holds more values than its reader has time for is an error', async () => {
    expect(await returned('return Array(49_999).fill(1)')).toHaveLength(49_999)
    const many = 'The returned value holds more than 50000 values. Return fewer, or a text.'
    expect(await failureOf('return Array.from({ length: 300_000 }, () => ({}))')).toEqual(['threw', many])
  })

  it('what is too long, or nested too deeply, is an error, in both directions', async () => {
    const nest = (levels: number) => `let a = 1; for (let i = 0; i < ${levels}; i++) a = [a]; return a`
    expect(await returned(nest(200))).toBeInstanceOf(Array)
    expect(await failureOf(nest(201))).toEqual([
      'threw',
      'The returned value is nested more than 200 levels deep.',
    ])
    expect((await failureOf(nest(50_000)))[0]).toBe('threw')
    const long = 'The returned value is longer than 1000000 characters as JSON. Return less of it.'
    expect(await failureOf('return "x".repeat(1e6)')).toEqual(['threw', long])
    expect((await failureOf('return "x".repeat(2e7)'))[0]).toBe('threw')

    const deep = 'The arguments are nested more than 200 levels deep.'
    const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
    expect(await failureOf('return 1', { argument: nested(201) })).toEqual(['refused', deep])
    expect(await failureOf('return 1', { argument: nested(100_000) })).toEqual(['refused', deep])
    expect((await failureOf('return 1', { argument: 'x'.repeat(5_000_001) }))[0]).toBe('refused')
    expect(await returned('return args.length', 'x'.repeat(4_000_000))).toBe(4_000_000)
  })
})

describe('errors', () => {
  it.each([
    ['const a = 1\n\nnull.name', "TypeError: cannot read property 'name' of null (line 3)"],
    ['function f() {\n  throw new RangeError("no")\n}\nf()', 'RangeError: no (line 2)'],
    ['await null\nreturn nothing', "ReferenceError: 'nothing' is not defined (line 2)"],
    ['return JSON.parse("{")', 'SyntaxError: expecting property name (line 1)'],
    ['let a = 1\nlet = ;', "SyntaxError: unexpected token in expression: ';' (line 2, column 7)"],
    ['}', "SyntaxError: unexpected token in expression: '}' (line 1, column 2)"],
    ['}) + (() => {', "SyntaxError: unexpected token in expression: ')' (line 1, column 2)"],
    ['throw "a word"', 'The code threw a word'],
    ['throw { code: 7 }', 'The code threw {"code":7}'],
    ['throw undefined', 'The code threw undefined'],
    ['throw new Error("x".repeat(3e6))', `Error: ${'x'.repeat(1993)}`],
    ['import fs from "node:fs"', "SyntaxError: expecting '(' (line 1, column 8)"],
    ['return await import("node:fs")', "ReferenceError: could not load module 'node:fs'"],
    ['function f() { f() }\nf()', 'InternalError: stack overflow (line 1)'],
    ['await Promise.any([Promise.reject(1)])', 'AggregateError'],
  ])('%j is told with its line', async (code, message) => {
    expect(await failureOf(code)).toEqual(['threw', expect.stringContaining(message)])
  })

  it.each([
    ['return 1', undefined],
    ['const a = `\n{{ x }}`\nreturn a // })', undefined],
    ['return await (async () => args.a)()', undefined],
    ['throw 1', undefined],
    ['while (true) {}', undefined],
    ['return 1 +* 2', "SyntaxError: unexpected token in expression: '*' (line 1, column 11)"],
    ['const a = 1\n\n  const = 2', '(line 3, column 9)'],
    ['return "abc', 'SyntaxError: unexpected end of string (line 1, column 8)'],
    ['if (x) {\n  y()', '(line 2, column 6)'],
    ['await 1; return [1, 2', '(line 1, column 22)'],
    ['}); while (true) {} (() => {', '(line 1, column 2)'],
    ['}, function () {', '(line 1, column 2)'],
    ['}, other() {', '(line 1, column 2)'],
    ['}\nwhile (true) {}\n{', '(line 2, column 1)'],
    ['} }).code; while (true) {}; ({ async code() {', '(line 1, column 3)'],
    ['x'.repeat(1_000_001), 'longer than'],
  ])('%# checks the syntax of code without running it', async (code, problem) => {
    const found = await sandbox.check(code, 'test')
    expect(found).toEqual(problem === undefined ? undefined : expect.stringContaining(problem))
  })

  it('code that no engine would read to its end is refused', async () => {
    expect((await failureOf('return "\0"'))[0]).toBe('refused')
    expect((await failureOf(' '.repeat(1_000_001)))[0]).toBe('refused')
    expect(await returned('return "\ud800"')).toBe('\ufffd')
  })
})

describe('console', () => {
  it('is always told, also when the code fails', async () => {
    const { console } = await run(`
      console.log('text', 1, null, undefined, true, 5n, Symbol('s'), () => 1)
      console.info({ list: [1, { two: 2 }], act() {}, big: 1n })
      console.warn(new TypeError('wrong'))
      const round = { name: 'round' }; round.self = round; round.twice = [{ a: 1 }, { a: 1 }]
      console.error(round)
      console.debug()
      throw new Error('end')`)
    expect(console).toEqual([
      { level: 'log', text: 'text 1 null undefined true 5n Symbol(s) [function]' },
      { level: 'info', text: '{"list":[1,{"two":2}],"act":"[function]","big":"1n"}' },
      { level: 'warn', text: 'TypeError: wrong (line 4)' },
      { level: 'error', text: '{"name":"round","self":"[circular]","twice":[{"a":1},{"a":1}]}' },
      { level: 'debug', text: '' },
    ])
  })

  it('survives the thread that has to be killed', async () => {
    const stuck = 'console.log("before"); Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)'
    const result = await run(stuck, { limits: { wallMs: 1_000 } })
    expect(result).toEqual({
      outcome: 'timed-out',
      message: expect.stringContaining('1 s'),
      console: [{ level: 'log', text: 'before' }],
    })
  })

  it('is bounded in lines and characters', async () => {
    const leftOut = { level: 'warn', text: '[What was written after this was left out: it is too much.]' }
    const many = await run('for (let i = 0; i < 5000; i++) console.log(i)')
    expect([many.outcome, many.console.length, many.console.at(-1)]).toEqual(['returned', 201, leftOut])
    const long = await run('console.log("x".repeat(1e6)); console.log("y")')
    expect(long.console).toEqual([{ level: 'log', text: 'x'.repeat(20_000) }, leftOut])
  })
})

describe('time', () => {
  it('a loop ends with its processor time, a wait with the time in all', async () => {
    const limits = { cpuMs: 50, wallMs: 20_000 }
    expect(await failureOf('for (;;);', { limits })).toEqual([
      'timed-out',
      expect.stringContaining('0.05 s of computing'),
    ])
    const wait = 'await new Promise(resolve => setTimeout(resolve, 60_000))'
    expect(await failureOf(wait, { limits: { wallMs: 50 } })).toEqual([
      'timed-out',
      expect.stringContaining('had not ended after 0.05 s'),
    ])
  })

  it('what nothing can settle is told at once', async () => {
    const limits = { wallMs: 600_000 }
    const told = ['never-settled', expect.stringContaining('nothing can settle')]
    expect(await failureOf('return new Promise(() => {})', { limits })).toEqual(told)
    expect(await failureOf('await { then() {} }', { limits })).toEqual(told)
    const cleared = 'await new Promise(resolve => { clearTimeout(setTimeout(resolve, 9)) })'
    expect(await failureOf(cleared, { limits })).toEqual(told)
    expect(await failureOf('await new Promise(resolve => setTimeout(() => {}, 5))', { limits })).toEqual(told)
  })

  it('timers ring in order, pass values and tell what they throw', async () => {
    const result = await run(`
      const rung = []
      setTimeout(name => rung.push(name), 500, 'late')
      setTimeout(name => rung.push(name), 10, 'early')
      setTimeout(() => rung.push('far'), Infinity)
      setTimeout(name => rung.push(name), -1, 'first')
      const cleared = setTimeout(() => rung.push('never'), 5)
      clearTimeout(cleared); clearTimeout(cleared); clearTimeout(undefined); clearTimeout(12345)
      setTimeout(() => { throw new Error('in a timer') })
      await new Promise(resolve => setTimeout(resolve, 600))
      return rung`)
    expect(result).toMatchObject({ outcome: 'returned', value: ['first', 'early', 'late'] })
    expect(result.console).toEqual([{ level: 'error', text: 'Error: in a timer (line 9)' }])
    expect(await failureOf('for (let i = 0; i < 1001; i++) setTimeout(() => {}, 1000)')).toEqual([
      'threw',
      'TypeError: More than 1000 timers are waiting. (line 1)',
    ])
    expect((await failureOf('setTimeout("code")'))[1]).toContain('setTimeout needs a function.')
  })

  it('leaves the thread that waits for it free', async () => {
    const busy = run('for (;;);', { limits: { cpuMs: 200 } })
    let beats = 0
    const heart = setInterval(() => (beats += 1), 1)
    await busy
    clearInterval(heart)
    expect(beats).toBeGreaterThan(3)
  })
})

describe('fetch', () => {
  const echo: RequestListener = async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const { method, url, headers } = request
    response.setHeader('x-kind', 'echo').end(JSON.stringify({ method, url, headers, body }))
  }

  it('sends method, headers and body, and reads status, headers and body', async () => {
    const origin = await serve(echo)
    const code = `
      const response = await fetch(args + '/path?a=1', { method: 'POST', headers: { 'X-One': 1 }, body: JSON.stringify({ ä: 1 }) })
      const { ok, status, url, headers } = response
      const names = []
      headers.forEach((value, name) => names.push(name))
      const { method, body, headers: sent } = await response.json()
      return { ok, status, url, kind: [headers.get('X-Kind'), headers.has('none'), headers.get('none')], named: names.includes('x-kind'),
        entries: [...headers.entries()].length === names.length, method, body, one: sent['x-one'], agent: sent['user-agent'] }`
    expect(await returned(code, origin)).toEqual({
      ok: true,
      status: 200,
      url: `${origin}/path?a=1`,
      kind: ['echo', false, null],
      named: true,
      entries: true,
      method: 'POST',
      body: '{"ä":1}',
      one: '1',
      agent: 'test/1',
    })
  })

  it('reads numbers that it cannot hold as texts of the same digits', async () => {
    const text = '{"id": 9007199254740993, "x": [1.5, 1e400], "t": "9007199254740993"}'
    const origin = await serve((_request, response) => response.end(text))
    const code = 'const answer = await fetch(args); return [await answer.json(), await answer.text()]'
    const value = { id: '9007199254740993', x: [1.5, '1e400'], t: '9007199254740993' }
    expect(await returned(code, origin)).toEqual([value, text])
  })

  it('takes addresses, parameters and headers as objects, and refuses a body that is none', async () => {
    const origin = await serve(echo)
    const code = `
      const url = new URL('/form', args)
      const response = await fetch(url, { method: 'PUT', headers: new Headers([['x-two', '2']]), body: new URLSearchParams({ q: 'a b' }) })
      const { headers, body } = await response.json()
      return [headers['content-type'], headers['x-two'], body]`
    expect(await returned(code, origin)).toEqual(['application/x-www-form-urlencoded', '2', 'q=a+b'])
    expect(await failureOf('await fetch("http://127.0.0.1", { method: "POST", body: { a: 1 } })')).toEqual([
      'threw',
      expect.stringContaining('use JSON.stringify for an object'),
    ])
  })

  it('several at once', async () => {
    let meet: () => void = () => undefined
    const both = new Promise<void>(resolve => (meet = resolve))
    let arrived = 0
    const origin = await serve(async (request, response) => {
      arrived += 1
      if (arrived === 2) meet()
      await both
      response.end(request.url)
    })
    const code = "return Promise.all(['/a', '/b'].map(async path => (await fetch(args + path)).text()))"
    expect(await returned(code, origin)).toEqual(['/a', '/b'])
  })

  it('an answer of any status is an answer; no answer is a TypeError with a sentence', async () => {
    const origin = await serve((_, response) => response.writeHead(404).end('not here'))
    const code =
      'const response = await fetch(args); return [response.ok, response.status, await response.text()]'
    expect(await returned(code, origin)).toEqual([false, 404, 'not here'])
    const failing = `
      const told = []
      for (const url of ['http://10.0.0.1/', 'ftp://host/', 'no address', 'http://127.0.0.1:2/']) {
        await fetch(url).catch(error => told.push([error instanceof TypeError, error.message]))
      }
      return told`
    expect(await returned(failing)).toEqual([
      [true, expect.stringContaining('10.0.0.1 cannot be reached')],
      [true, expect.stringContaining('http')],
      [true, expect.any(String)],
      [true, expect.stringContaining('The request to 127.0.0.1:2 failed')],
    ])
  })

  it('is bounded in requests and bytes', async () => {
    const origin = await serve((request, response) => response.end('x'.repeat(Number(request.url?.slice(1)))))
    const storm = `
      const results = await Promise.allSettled(Array.from({ length: 60 }, () => fetch(args + '/1')))
      const refused = results.filter(({ status }) => status === 'rejected')
      return [refused.length, refused[0].reason.message]`
    const sentence = 'Code may send 50 requests in one call, and this was one more.'
    expect(await returned(storm, origin)).toEqual([10, sentence])
    const large = await run('return (await (await fetch(args + "/4000000")).text()).length', {
      argument: origin,
    })
    expect(large).toMatchObject({ outcome: 'returned', value: 4_000_000 })
    expect(await failureOf('await fetch(args + "/6000000")', { argument: origin })).toEqual([
      'threw',
      expect.stringContaining('larger than 5000000 bytes'),
    ])
  })

  it('an answer that the memory has no room for ends the run, whatever it breaks, and no other', async () => {
    const origin = await serve((_, response) => response.end('\u0001'.repeat(4_000_000)))
    const code = `
      const held = []
      try { for (;;) held.push('x'.repeat(10_000) + held.length) } catch {}
      const text = await (await fetch(args)).text()
      return [held.length, text.length]`
    const limits = { cpuMs: 2000, wallMs: 10_000 }
    expect(['out-of-memory', 'threw', 'timed-out', 'never-settled']).toContain(
      (await failureOf(code, { argument: origin, limits }))[0],
    )
    expect(await returned('return 1')).toBe(1)
  })

  it.each([
    ['returns', 'setTimeout(() => {}, 60_000); fetch(args); await fetch(args + "/first")', {}],
    ['is out of time', 'await fetch(args)', { wallMs: 1_500 }],
  ])('a request is ended when the run %s', async (_, code, limits) => {
    const left = Promise.withResolvers<void>()
    const origin = await serve((request, response) => {
      if (request.url === '/first') response.end()
      else response.once('close', left.resolve)
    })
    await run(code, { argument: origin, limits })
    await left.promise
  })
})

describe('what people know from browsers', () => {
  it('addresses and their parameters', async () => {
    const code = `
      const url = new URL('../b?x=1&x=2&y=%20#h', 'https://user@host.test:8443/a/c/')
      const before = { ...Object.fromEntries(['href', 'host', 'port', 'pathname', 'hash'].map(part => [part, url[part]])) }
      const all = url.searchParams.getAll('x')
      url.searchParams.set('x', 'ä&')
      url.searchParams.delete('y')
      url.searchParams.append('z', '1')
      url.hash = ''
      url.pathname = '/new'
      const query = new URLSearchParams({ b: 2, a: 1 })
      query.sort()
      return { before, all, after: url, text: String(url), z: url.searchParams.get('z'), none: url.searchParams.get('none'), query: String(query),
        pairs: [...query], can: [URL.canParse('/a'), URL.canParse('/a', 'http://h')] }`
    const after = 'https://user@host.test:8443/new?x=%C3%A4%26&z=1'
    expect(await returned(code)).toEqual({
      before: {
        href: 'https://user@host.test:8443/a/b?x=1&x=2&y=%20#h',
        host: 'host.test:8443',
        port: '8443',
        pathname: '/a/b',
        hash: '#h',
      },
      all: ['1', '2'],
      after,
      text: after,
      z: '1',
      none: null,
      query: 'a=1&b=2',
      pairs: [
        ['a', '1'],
        ['b', '2'],
      ],
      can: [false, true],
    })
    expect((await failureOf('new URL("nowhere")'))[1]).toContain('TypeError: Invalid URL')
  })

  it('bytes, Base64 and random ids', async () => {
    const code = `
      const bytes = new TextEncoder().encode('ä\\0€')
      const tail = new DataView(bytes.buffer, 3)
      return [[...bytes], new TextDecoder().decode(bytes), new TextDecoder().decode(tail), btoa('hi'), atob('aGk='), crypto.randomUUID() !== crypto.randomUUID()]`
    expect(await returned(code)).toEqual([[195, 164, 0, 226, 130, 172], 'ä\0€', '€', 'aGk=', 'hi', true])
    expect((await failureOf('btoa("€")'))[0]).toBe('threw')
  })
})

describe('runs beside each other', () => {
  it('know nothing of each other', async () => {
    await run('globalThis.left = 1; Object.prototype.polluted = 1; Array.prototype.map = null')
    expect(await returned('return [typeof left, typeof {}.polluted, [1].map(String)]')).toEqual([
      'undefined',
      'undefined',
      ['1'],
    ])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  it('a thread keeps nothing of the many that it has run', async () => {
    const single = createSandbox({ log, fetch: outbound.fetch, maxThreads: 1 })
    const outcomes = new Set<string>()
    // Each engine begins with 16 MiB: kept, these would be more than a thread may hold.
    for (let index = 0; index < 100; index += 1) {
      outcomes.add((await single.run({ code: 'return 1', argument: index, owner: 'test' })).outcome)
    }
    await single.close()
    expect([...outcomes]).toEqual(['returned'])
  })

  it('one that is killed does not touch the others', async () => {
    const origin = await serve(() => undefined)
    const waiting = run('await new Promise(resolve => setTimeout(resolve, 500)); return 1', {
      owner: 'other',
    })
    const killer = new AbortController()
    const killed = run('await fetch(args)', { argument: origin, signal: killer.signal })
    await Promise.race(servers.map(server => once(server, 'request')))
    killer.abort(new Error('not needed any more'))
    await expect(killed).rejects.toThrow('not needed any more')
    expect(await waiting).toMatchObject({ outcome: 'returned', value: 1 })
  })

  it('one owner cannot keep the others waiting', async () => {
    const origin = await serve(() => undefined)
    const stop = new AbortController()
    const greedy = Array.from({ length: 8 }, () =>
      run('await fetch(args)', { argument: origin, signal: stop.signal }),
    )
    const ends = Promise.allSettled(greedy)
    expect(await run('return 1', { owner: 'other' })).toMatchObject({ outcome: 'returned', value: 1 })
    stop.abort()
    expect((await ends).every(({ status }) => status === 'rejected')).toBe(true)
  })

  it('waiting has an end, too', async () => {
    const narrow = createSandbox({ log, fetch: outbound.fetch, maxThreads: 1, maxWaitMs: 20 })
    const origin = await serve(() => undefined)
    const first = narrow.run({ code: 'await fetch(args)', argument: origin, owner: 'a' })
    const second = await narrow.run({ code: 'return 1', argument: 1, owner: 'b' })
    expect(second).toMatchObject({ outcome: 'busy', console: [] })
    const refused = expect(first).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
    await narrow.close()
    await refused
    await expect(narrow.run({ code: '', argument: 1, owner: 'a' })).rejects.toMatchObject({
      code: 'SHUTTING_DOWN',
    })
  })
})
