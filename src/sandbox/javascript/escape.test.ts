/** Code that wants out, or wants everything. Nothing may come of it: not for the host, nor for the call after it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createLog } from '#platform/logging/log.ts'
import { createOutbound } from '#platform/outbound/outbound.ts'
import type { RunResult } from './outcome.ts'
import { createSandbox } from './sandbox.ts'

const canary = 'canary-6b1f'
const outbound = createOutbound({
  allow: [],
  userAgent: 'test/1',
  resolve: async () => [{ address: '10.1.2.3', family: 4 }],
})
const sandbox = createSandbox({ log: createLog('silent'), fetch: outbound.fetch })
const limits = { cpuMs: 300, wallMs: 2000 }
/** For code that ends by itself, however busy the machine is. */
const patient = { ...limits, wallMs: 60_000 }

let folder: string
let file: string

beforeAll(() => {
  process.env.SANDBOX_CANARY = canary
  folder = mkdtempSync(join(tmpdir(), 'sandbox-'))
  file = join(folder, 'canary.txt')
  writeFileSync(file, canary)
})

afterEach(async () => {
  expect(process.env.SANDBOX_CANARY).toBe(canary)
  expect(readdirSync(folder)).toEqual(['canary.txt'])
  expect(readFileSync(file, 'utf8')).toBe(canary)
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  const after =
    'return [args, Object.keys(globalThis), typeof {}.polluted, JSON.stringify([1].map(one => one + 1))]'
  expect(await sandbox.run({ code: after, argument: 7, owner: 'test' })).toEqual({
    outcome: 'returned',
    value: [7, [], 'undefined', '[2]'],
    console: [],
  })
})

afterAll(async () => {
  await sandbox.close()
  await outbound.close()
  rmSync(folder, { recursive: true })
})

function attack(code: string, argument: unknown = { file }, given = patient): Promise<RunResult> {
  return sandbox.run({ code, argument, owner: 'test', limits: given })
}

/** What code could do with the host's `process`; told as an object if there is one. */
const useProcess = `
  function use(process) {
    if (typeof process !== 'object' || process === null) return 'nothing'
    try { process.getBuiltinModule('fs').writeFileSync(args.file, 'changed') } catch {}
    process.env.SANDBOX_CANARY = 'changed'
    return JSON.stringify(process.env)
  }
  const told = []
  let isLooking = false
  function look(find) { if (isLooking) return; isLooking = true; try { told.push(use(find())) } catch (error) { told.push(String(error)) } finally { isLooking = false } }
`

describe('ways to the host', () => {
  const ways: Record<string, string> = {
    'constructors of everything in reach': `
      const things = [this, globalThis, args, fetch, console, console.log, setTimeout, URL, URLSearchParams, Headers, crypto, crypto.randomUUID,
        Promise, JSON, (async () => {}), (function* () {}), (async function* () {}), eval, Function, Reflect, new Proxy({}, {}), Symbol]
      for (const thing of things) {
        look(() => thing.constructor('return process')())
        look(() => thing.constructor.constructor('return process')())
        look(() => thing.constructor.constructor('return this')().process)
        look(() => Object.getPrototypeOf(thing).constructor.constructor('return process')())
      }`,
    'names that other places have': `
      for (const name of ['process', 'require', 'module', 'exports', 'global', 'Deno', 'Bun', 'std', 'os', 'scriptArgs', 'WebAssembly', 'Worker', 'host'])
        look(() => (0, eval)(name))
      look(() => require('process')); look(() => globalThis.global.process); look(() => (0, eval)('this').process)`,
    modules: `
      for (const name of ['fs', 'node:fs', 'std', 'os', 'qjs:std', 'inside', 'code', '/etc/passwd', 'file:///etc/passwd', 'data:text/javascript,export default 1'])
        await import(name).then(found => told.push({ found }), error => told.push(String(error)))`,
    'errors that the host made': `
      const errors = []
      await fetch('http://10.0.0.1').catch(error => errors.push(error))
      await fetch({ toString() { throw this } }).catch(error => errors.push(error))
      try { new URL('') } catch (error) { errors.push(error) }
      try { atob('%') } catch (error) { errors.push(error) }
      try { setTimeout(1) } catch (error) { errors.push(error) }
      try { (function f() { f() })() } catch (error) { errors.push(error) }
      for (const error of errors) {
        look(() => error.constructor.constructor('return process')())
        look(() => error.cause.constructor.constructor('return process')())
        look(() => Object.getPrototypeOf(error).constructor.constructor('return process')())
      }
      told.push(errors.length)`,
    'stack traces': `
      Error.prepareStackTrace = (_, frames) => { look(() => frames[0].getThis().process); look(() => frames[0].getFunction().constructor('return process')()); return '' }
      Error.stackTraceLimit = 1e9
      try { null.x } catch (error) { told.push(typeof error.stack) }
      await fetch('http://10.0.0.1').catch(error => told.push(typeof error.stack))
      const thrown = new Error(); Error.captureStackTrace?.(thrown); told.push(typeof thrown.stack)`,
    'promises and thenables': `
      const answer = fetch('http://10.0.0.1')
      look(() => answer.constructor.constructor('return process')())
      look(() => answer.then.constructor('return process')())
      Promise.prototype.then = function (...callbacks) { callbacks.forEach(one => look(() => one.constructor('return process')())); return this }
      Object.defineProperty(Promise, Symbol.species, { get() { look(() => this.constructor.constructor('return process')()); return Promise } })
      await { then(resolve, reject) { look(() => resolve.constructor('return process')()); look(() => reject.caller.constructor('return process')()); resolve() } }
      answer.catch(() => undefined)`,
    'who calls': `
      look(() => arguments.callee.caller.constructor('return process')())
      const spy = { toString() { look(() => spy.toString.caller.constructor('return process')()); look(() => arguments.callee.caller.arguments[0].process); return '' } }
      console.log(spy); new URLSearchParams(spy); btoa(spy)
      setTimeout(function () { look(() => this.constructor.constructor('return process')()); look(() => arguments.callee.caller.process) }, 0)
      await new Promise(resolve => setTimeout(resolve, 5))`,
    'proxies and getters in what the host is given': `
      const handler = new Proxy({}, { get: (_, trap) => (...values) => { for (const value of values) look(() => value?.constructor?.constructor('return process')()); return Reflect[trap](...values) } })
      const trapped = new Proxy({ a: 1 }, handler)
      const getters = { get a() { look(() => this.constructor.constructor('return process')()); return 1 }, toJSON() { look(() => arguments.callee.caller.process); return 1 } }
      for (const thing of [trapped, getters]) {
        console.log(thing, [thing]); console.error(Object.assign(new Error(), { message: thing, stack: thing }))
        try { new URL(thing) } catch {}
        try { new URLSearchParams(thing) } catch {}
        await fetch(thing, thing).catch(() => {})
        await fetch('http://10.0.0.1', { method: thing, headers: thing }).catch(() => {})
        try { setTimeout(thing, thing) } catch {}
        setTimeout(() => {}, thing)
      }`,
    'prototypes under what the border uses': `
      for (const prototype of [Object.prototype, Array.prototype, String.prototype, Number.prototype, Function.prototype, Promise.prototype]) {
        prototype.polluted = 1
        prototype.toJSON = function () { look(() => this.constructor.constructor('return process')()); return 'forged' }
      }
      for (const name of ['0', '1', 'length', 'error', 'kind', 'id', 'url', 'headers', 'status'])
        Object.defineProperty(Object.prototype, name, { configurable: true, set(value) { look(() => value.constructor.constructor('return process')()) }, get() { return 'forged' } })
      console.log('text'); try { new URL('http://h') } catch {}; try { setTimeout(() => {}) } catch {}
      await fetch('http://10.0.0.1').catch(() => {})
      for (const prototype of [Object.prototype, Array.prototype, String.prototype, Number.prototype, Function.prototype, Promise.prototype]) delete prototype.toJSON`,
  }

  it.each(Object.keys(ways))('%s', async name => {
    const result = await attack(`${useProcess}\n${ways[name]}\nreturn { told }`)
    if (result.outcome !== 'returned') throw new Error(result.message)
    expect(JSON.stringify(result)).not.toContain(canary)
    expect(result).toMatchObject({ outcome: 'returned' })
    if (result.outcome === 'returned') expect(JSON.stringify(result.value)).not.toMatch(/"\{/)
  })

  it('the global object has the language, the few things we add, and nothing else', async () => {
    const added = await attack(`
      const language = 'AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean DataView Date Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array InternalError Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt undefined unescape'.split(' ')
      return Object.getOwnPropertyNames(globalThis).filter(name => !language.includes(name)).sort()`)
    const ours =
      'Headers Intl TextDecoder TextEncoder URL URLSearchParams atob btoa clearTimeout console crypto fetch setTimeout'
    expect(added).toMatchObject({ outcome: 'returned', value: ours.split(' ') })
  })
})

describe('built-ins that the code has replaced', () => {
  it('start, console, timers, requests and the end do without them', async () => {
    const result = await attack(`
      const fail = () => { throw new Error('replaced') }
      JSON.stringify = JSON.parse = fail
      Reflect.apply = Reflect.defineProperty = fail
      for (const type of [Array, String, Function, Promise, Number, Error]) {
        for (const name of Object.getOwnPropertyNames(type.prototype)) {
          if (name === 'constructor' || name === 'length' || name === 'then') continue
          try { type.prototype[name] = fail } catch {}
        }
      }
      Array.prototype[Symbol.iterator] = String.prototype[Symbol.iterator] = fail
      globalThis.Promise = globalThis.Error = globalThis.TypeError = globalThis.String = undefined
      console.log('still', { here: [1] })
      await new globalThis.Object.prototype.constructor
      return { a: ['b', 1] }`)
    expect(result).toEqual({
      outcome: 'returned',
      value: { a: ['b', 1] },
      console: [{ level: 'log', text: 'still {"here":[1]}' }],
    })
    expect(
      await attack(
        'JSON.stringify = JSON.parse = null; Promise.prototype.then = null\nthrow new TypeError("x")',
      ),
    ).toMatchObject({
      outcome: 'threw',
      message: 'TypeError: x (line 2)',
    })
  })
})

/** Each with how it may end. */
const bombs: Record<string, [code: string, outcomes: RunResult['outcome'][]]> = {
  'many small strings': [
    'const held = []; for (let i = 0; ; i++) held.push("x" + i)',
    ['out-of-memory', 'timed-out'],
  ],
  'many objects': ['const held = []; for (;;) held.push({ a: { b: [] } })', ['out-of-memory', 'timed-out']],
  'a map that grows': [
    'const held = new Map(); for (let i = 0; ; i++) held.set(i, {})',
    ['out-of-memory', 'timed-out'],
  ],
  'typed arrays': ['const held = []; for (;;) held.push(new Uint8Array(1e6))', ['out-of-memory']],
  'one large typed array': ['new Float64Array(1e9)', ['out-of-memory', 'threw']],
  'buffers of shared memory': [
    'const held = []; for (;;) held.push(new SharedArrayBuffer(1e6))',
    ['out-of-memory'],
  ],
  'a repeated string': ['"x".repeat(2 ** 29)', ['out-of-memory', 'threw']],
  'a doubled string': ['let text = "x"; for (;;) text += text', ['out-of-memory', 'threw']],
  padding: ['"".padStart(2 ** 30 - 1, "abc")', ['out-of-memory', 'threw']],
  'a joined array': ['Array(2 ** 32 - 1).join("x")', ['out-of-memory', 'timed-out', 'threw']],
  'an array that grows': [
    'const held = []; for (;;) held.push(...Array(1000))',
    ['out-of-memory', 'timed-out'],
  ],
  'a sparse array filled': ['Array(2 ** 32 - 1).fill(0)', ['out-of-memory', 'timed-out']],
  'a large BigInt': ['let number = 3n; for (;;) number *= number', ['out-of-memory', 'timed-out', 'threw']],
  'a large regular expression': [
    'new RegExp("(?:a{1,1000}){1,1000}".repeat(1000)).test("a")',
    ['out-of-memory', 'timed-out', 'threw', 'returned'],
  ],
  'memory caught again and again': [
    'const held = []; for (;;) try { for (;;) held.push(new Array(1000).fill({})) } catch { held.length = 0 }',
    ['out-of-memory', 'timed-out'],
  ],
  'full memory, then everything the host offers': [
    `const held = []; try { for (;;) held.push('y'.repeat(1000) + held.length) } catch {}
     try { for (;;) held.push('z' + held.length) } catch {}
     try { console.log({ a: held.length }) } catch {}
     try { new URL('http://host/') } catch {}
     await fetch('http://10.0.0.1/').catch(() => {}); return held`,
    ['out-of-memory', 'timed-out', 'threw'],
  ],
  'a loop': ['for (;;);', ['timed-out']],
  'a loop that catches': ['for (;;) try { for (;;); } catch {} finally { continue }', ['timed-out']],
  microtasks: ['for (;;) await null', ['timed-out']],
  'microtasks after the end': [
    '(async () => { for (;;) await null })(); return 1',
    ['returned', 'timed-out'],
  ],
  'a storm of promises': [
    '(function f() { Promise.resolve().then(f); Promise.resolve().then(f) })(); await new Promise(() => {})',
    ['timed-out', 'out-of-memory'],
  ],
  'an interruption caught by another function': [
    'async function f() { for (;;); } for (;;) await f().catch(() => {})',
    ['timed-out'],
  ],
  'a storm of timers': [
    '(function f() { setTimeout(f, 0); setTimeout(f, 0) })(); await new Promise(() => {})',
    ['timed-out', 'never-settled'],
  ],
  'a regular expression that backtracks': ['return /^(a+)+$/.test("a".repeat(50) + "b")', ['timed-out']],
  'a generator without end': [
    'Array.from((function* () { for (;;) yield 1 })())',
    ['timed-out', 'out-of-memory'],
  ],
  'a getter that loops while the value is read': ['return { get a() { for (;;); } }', ['timed-out']],
  'a toJSON that loops': ['return { toJSON() { for (;;); } }', ['timed-out']],
  'a toJSON that never tires': [
    'return { toJSON() { return { a: this } }, get b() { return { ...this } } }',
    ['timed-out', 'threw', 'out-of-memory'],
  ],
  'a proxy with keys without end': [
    'return new Proxy([], { get: (_, key) => (key === "length" ? 2 ** 53 - 1 : 1) })',
    ['timed-out', 'out-of-memory'],
  ],
  'a toString that loops while the console reads': [
    'console.log(Object.assign(new Error(), { message: { toString() { for (;;); } } }))',
    ['timed-out'],
  ],
  'an error that loops while it is told': [
    'throw Object.assign(new Error(), { get stack() { for (;;); } })',
    ['timed-out'],
  ],
  'an error whose name loops': [
    'const error = new Error(); Object.defineProperty(error, "name", { get() { for (;;); } }); throw error',
    ['timed-out'],
  ],
  'a thenable that loops': ['return { then() { for (;;); } }', ['timed-out']],
  'a thenable of thenables': [
    'const thenable = { then: resolve => resolve(thenable) }; return thenable',
    ['timed-out', 'out-of-memory'],
  ],
  'an address that loops': ['await fetch({ toString() { for (;;); } })', ['timed-out']],
  'sorting that never agrees': [
    'Array.from({ length: 1e5 }, (_, i) => i).sort(() => { for (;;); })',
    ['timed-out'],
  ],
  recursion: ['(function f() { f() })()', ['threw']],
  'recursion through getters': ['const a = { get b() { return this.b } }; a.b', ['threw']],
  'recursion through proxies': [
    'let a = {}; for (let i = 0; i < 1e5; i++) a = new Proxy(a, {}); return a.b',
    ['threw', 'timed-out', 'out-of-memory', 'returned'],
  ],
  'recursion that catches': ['(function f() { try { f() } catch { f() } })()', ['threw', 'timed-out']],
  'a chain of bound functions': [
    'let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(); f()',
    ['threw', 'timed-out', 'out-of-memory', 'returned'],
  ],
  '20,000 brackets': [`return ${'['.repeat(20_000)}${']'.repeat(20_000)}`, ['threw']],
  '20,000 parentheses': [`return ${'('.repeat(20_000)}1${')'.repeat(20_000)}`, ['threw']],
  '20,000 braces': ['{'.repeat(20_000) + '}'.repeat(20_000), ['threw']],
  '20,000 minus signs': [`return ${'- '.repeat(20_000)}1`, ['threw', 'returned']],
  '20,000 brackets evaluated': ['eval("[".repeat(20000) + "]".repeat(20000))', ['threw']],
  '20,000 brackets parsed': ['JSON.parse("[".repeat(20000) + "]".repeat(20000))', ['threw']],
  '20,000 groups': ['new RegExp("(".repeat(20000) + ")".repeat(20000))', ['threw']],
  'a deep value': ['let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a', ['threw', 'timed-out']],
  'a deep value on the console': [
    'let a = []; for (let i = 0; i < 1e4; i++) a = [a]; console.log(a)',
    ['returned', 'timed-out'],
  ],
  'a huge console': ['for (;;) console.log("x".repeat(1e5))', ['timed-out', 'out-of-memory']],
  'a huge value': ['return Array(1e6).fill("xxxxxxxxxx")', ['threw', 'out-of-memory', 'timed-out']],
  'a storm of requests': [
    'for (let i = 0; i < 1e6; i++) fetch("http://10.0.0.1/" + i).catch(() => {}); return 1',
    ['returned', 'timed-out', 'out-of-memory'],
  ],
  'a huge request': [
    'await fetch("http://host/", { method: "POST", body: "x".repeat(2e7) })',
    ['threw', 'out-of-memory', 'timed-out'],
  ],
  'a huge address': ['new URL("http://host/" + "x".repeat(2e7))', ['threw', 'out-of-memory']],
  'many ids cleared': ['for (let i = 0; i < 1e9; i++) clearTimeout(i)', ['timed-out']],
}

describe('bombs end within their limits, beside a main thread that goes on', () => {
  it.each(Object.keys(bombs))('%s', async name => {
    const [code, outcomes] = bombs[name] ?? ['', []]
    let beats = 0
    const heart = setInterval(() => (beats += 1), 1)
    const { outcome, console } = await attack(code, { file }, limits)
    clearInterval(heart)
    // Which limit a bomb meets first depends on the machine: on a slow one it may be that of time.
    expect([...outcomes, 'timed-out']).toContain(outcome)
    expect(console.map(line => line.text).join('').length).toBeLessThan(30_000)
    if (outcome === 'timed-out') expect(beats).toBeGreaterThan(3)
  })

  it.each([
    ['bytes', 'new Uint8Array(10_000)', 10_000],
    ['small strings', '"small string " + held.length', 40],
    ['objects', '{ a: 1 }', 60],
  ])('64 MiB of %s are all that code can hold at a time', async (_, piece, size) => {
    const code = `const held = []; let count; try { for (;;) held.push(${piece}) } catch { count = held.length; held.length = 0 } return count`
    const result = await sandbox.run({ code, argument: {}, owner: 'test', limits: { cpuMs: 20_000 } })
    if (result.outcome !== 'returned') throw new Error(result.message)
    expect(result.value).toBeGreaterThan(1000)
    expect(Number(result.value) * size).toBeLessThan(64 * 1024 * 1024)
  })

  it('what the engine cannot interrupt is killed with its thread, and the runs beside it end as they would', async () => {
    const run = (code: string, wallMs: number) =>
      sandbox.run({ code, argument: 0, owner: 'test', limits: { ...limits, wallMs } })
    const stuck = run('Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)', 100)
    // It ends only after the other one has been killed, which it is two seconds after its time.
    const beside = run('await new Promise(resolve => setTimeout(resolve, 4000)); return 1', 20_000)
    expect(await stuck).toMatchObject({ outcome: 'timed-out' })
    expect(await beside).toMatchObject({ outcome: 'returned', value: 1 })
  })

  it('what computes without an interruption may not do so for the time in which code may wait', async () => {
    const code =
      'await new Promise(resolve => setTimeout(resolve, 4000)); [].indexOf.call({ length: 2 ** 53 - 1 }, 1)'
    const stuck = sandbox.run({ code, argument: 0, owner: 'test', limits: { cpuMs: 300, wallMs: 60_000 } })
    expect(await stuck).toMatchObject({ outcome: 'timed-out', message: expect.stringContaining('computing') })
  })
})

const fixtures = process.env.REAL_FIXTURES ?? ''

describe.skipIf(fixtures === '')('public attack lists (needs REAL_FIXTURES)', () => {
  const read = (name: string) => JSON.parse(readFileSync(`${fixtures}/security/${name}`, 'utf8'))

  it('no private address is reached, however it is written', async () => {
    const list: { url: string; expect: string }[] = read('ssrf-urls.json')
    const urls = list.filter(entry => !entry.expect.startsWith('allow')).map(entry => entry.url)
    expect(urls.length).toBeGreaterThan(30)
    const code = 'return Promise.all(args.map(url => fetch(url).then(() => "reached", error => error.name)))'
    const result = await attack(code, urls)
    expect(result).toMatchObject({ outcome: 'returned', value: urls.map(() => 'TypeError') })
  })

  it('snippets', async () => {
    const { code_snippets: snippets }: { code_snippets: string[] } = read('templates-and-code.json')
    const ends = await Promise.all(snippets.map(async code => [code, (await attack(code)).outcome]))
    expect(Object.fromEntries(ends)).toMatchObject({
      'return 1+1': 'returned',
      'return process.env': 'threw',
      'this.constructor.constructor("return process")().exit()': 'threw',
      'while(true){}': 'timed-out',
      'require("fs").readFileSync("/etc/passwd","utf8")': 'threw',
      'return new Promise(()=>{})': 'never-settled',
    })
  })

  it('naughty strings pass unharmed, as argument and as code', async () => {
    const strings: string[] = read('blns.json')
    expect(await attack('return args', strings)).toMatchObject({ outcome: 'returned', value: strings })
  })
})
