/** One run after the other in the same thread: nothing of the earlier one is left, though the engine is the same. */
import { afterAll, describe, expect, it, vi } from 'vitest'
import { createLog } from '#platform/logging/log.ts'
import { createExecution } from './execution.ts'
import { defaultLimits, type RunLimits } from './limits.ts'
import type { Ending } from './outcome.ts'
import { createPulse } from './pulse.ts'
import { createSandbox, type SandboxOptions } from './sandbox.ts'

interface Memory {
  buffer: ArrayBuffer
}

/** One for each engine that was made. */
const memories: Memory[] = []
const { WebAssembly: assembly } = globalThis as unknown as {
  WebAssembly: { Memory: new (pages: object) => Memory }
}
vi.stubGlobal(
  'WebAssembly',
  Object.create(assembly, {
    Memory: {
      value: class extends assembly.Memory {
        constructor(pages: object) {
          super(pages)
          memories.push(this)
        }
      },
    },
  }),
)
afterAll(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

interface RunOptions {
  argument?: unknown
  limits?: Partial<RunLimits>
  onlyCompiles?: boolean
  /** Called when the code writes to its console, and while it is there. */
  onConsole?(text: string): void
  /** The body that each request gets. */
  answer?: string
}

async function run(code: string, options: RunOptions = {}): Promise<Ending> {
  const { argument = null, limits, onlyCompiles = false, onConsole, answer = '' } = options
  const execution = await createExecution({
    code,
    argumentJson: JSON.stringify(argument),
    limits: { ...defaultLimits, ...limits },
    pulse: createPulse(),
    onlyCompiles,
    send(message) {
      if (message.kind === 'console') onConsole?.(message.line.text)
      else
        setImmediate(() =>
          execution.answer(message.id, [true, { status: 200, url: 'http://h/', headers: [], text: answer }]),
        )
    },
  })
  return execution.run()
}

async function returned(code: string, options?: RunOptions): Promise<unknown> {
  const ending = await run(code, options)
  if (ending.outcome !== 'returned') throw new Error(ending.message)
  return JSON.parse(ending.json)
}

/** Whether the latest engine was used, and not one made for the run. */
async function isReused(step: () => Promise<unknown>): Promise<boolean> {
  const before = memories.length
  await step()
  return memories.length === before
}

function holds(text: string): boolean {
  const bytes = Buffer.from(memories.at(-1)?.buffer ?? new ArrayBuffer())
  return bytes.includes(Buffer.from(text, 'utf8')) || bytes.includes(Buffer.from(text, 'utf16le'))
}

describe('a secret of one run', () => {
  const secret = 'secret-5c1d80'
  const zeros = Buffer.alloc(16 * 1024 * 1024)
  const inOtherWords = "['secret', 'x5c1d80'].join('-').replace('x', '')"
  const places: Record<string, [code: string, options?: RunOptions]> = {
    'a literal': [`const own = '${secret}'; console.log(1); return own`],
    'a comment': [`/* ${secret} */ console.log(1)`],
    'the arguments': ['console.log(1); return args', { argument: { own: secret } }],
    'a computed text': [`const own = ${inOtherWords}; console.log(1); return own`],
    'a text of wide characters': [`const own = '€' + ${inOtherWords}; console.log(1); return own`],
    bytes: [`const own = new TextEncoder().encode(${inOtherWords}); console.log(1); return own.length`],
    'a console line': [`console.log(${inOtherWords})`],
    'an answer': [
      'const own = await (await fetch("http://h/")).text(); console.log(1); return own',
      { answer: secret },
    ],
    'a global': [`globalThis[${inOtherWords}] = 1; console.log(1)`],
    'a prototype': [`Array.prototype[${inOtherWords}] = 1; console.log(1)`],
    'a registered symbol': [`globalThis.own = Symbol.for(${inOtherWords}); console.log(1)`],
    'a regular expression': [`const own = new RegExp(${inOtherWords}); console.log(1); own.test('a')`],
    'a thrown error': [`const own = new Error(${inOtherWords}); console.log(1); throw own`],
    'a promise that never settles': [
      `const own = ${inOtherWords}; console.log(1); await new Promise(resolve => { globalThis.r = [resolve, own] })`,
    ],
    'a timer that never rings': [
      `const own = ${inOtherWords}; setTimeout(() => own, 1e6); console.log(1); return 1`,
    ],
    'memory that was freed': [
      `let own = ${inOtherWords}.repeat(1000); own = { own }; console.log(1); own = null`,
    ],
    'code that cannot be compiled': [`const own = '${secret}'; const = 1`],
    'code that is only checked': [`return '${secret}'`, { onlyCompiles: true }],
  }

  it.each(Object.keys(places))('in %s is nowhere in the memory of the next', async name => {
    const [code, options] = places[name] ?? ['']
    let isThere = false
    await run('')
    expect(
      await isReused(() =>
        run(code, {
          ...options,
          onConsole() {
            isThere = holds(secret)
          },
        }),
      ),
    ).toBe(true)
    if (code.includes('console.log')) expect(isThere).toBe(true)
    expect(zeros.equals(new Uint8Array(memories.at(-1)?.buffer ?? new ArrayBuffer()))).toBe(true)

    let found: boolean | undefined
    const next = () => run('console.log(2)', { onConsole: () => (found = holds(secret)) })
    expect(await isReused(next)).toBe(true)
    expect(found).toBe(false)
  })
})

describe('an engine', () => {
  const limits = { cpuMs: 30, wallMs: 10_000 }
  const deep = 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a'

  it.each<[string, string, RunOptions, outcome: string]>([
    ['computed for too long', 'for (;;);', { limits }, 'timed-out'],
    [
      'caught its interruption',
      'const f = async () => { for (;;); }; for (;;) await f().catch(() => {})',
      { limits },
      'timed-out',
    ],
    ['took too long', 'await new Promise(r => setTimeout(r, 9000))', { limits: { wallMs: 20 } }, 'timed-out'],
    ['has grown', 'const a = Array(1.5e6).fill(1); return a.length', {}, 'returned'],
    [
      'has grown and shrunk',
      'let a = new Uint8Array(2e7); a = undefined; await null; return 1',
      {},
      'returned',
    ],
    ['ran out of memory', 'const a = []; for (;;) a.push(new Uint8Array(1e6))', {}, 'out-of-memory'],
    ['ran out of stack', '(function f() { f() })()', {}, 'threw'],
    ['was left by an exception', deep, {}, 'threw'],
    [
      'met a trap',
      'console.log(1); return 1',
      {
        onConsole() {
          // The library reports it there.
          vi.spyOn(console, 'error').mockReturnValue()
          new Uint8Array(memories.at(-1)?.buffer ?? new ArrayBuffer()).fill(255)
        },
      },
      'threw',
    ],
  ])('that %s is dropped', async (_, code, options, outcome) => {
    await run('')
    expect((await run(code, options)).outcome).toBe(outcome)
    expect(await isReused(() => returned('return 1'))).toBe(false)
    expect(await isReused(() => returned('return 1'))).toBe(true)
  })

  it.each([
    ['returned', 'globalThis.mark = 1; return 1'],
    ['threw', 'throw new TypeError("no")'],
    ['waits for nothing', 'await new Promise(() => {})'],
    ['has jobs left', '(async () => { for (;;) await null })(); return 1'],
    ['has timers left', 'for (let i = 0; i < 99; i++) setTimeout(() => {}, i); return 1'],
    ['has requests left', 'fetch("http://h/"); return 1'],
    ['could not be compiled', 'const = 1'],
    ['was refused by its host', 'try { new URL("") } catch {} return 1'],
  ])('that %s serves the next run', async (_, code) => {
    await run('')
    expect(await isReused(() => run(code))).toBe(true)
    expect(await isReused(() => returned('return 1'))).toBe(true)
  })

  it('has the same stack and memory in each run', async () => {
    const depth = `let depth = 0; function fall() { depth += 1; fall() }
      try { fall() } catch {}
      try { new URL('') } catch {}
      return depth`
    const depths = new Set<unknown>()
    for (let index = 0; index < 20; index += 1) depths.add(await returned(depth))
    expect(depths.size).toBe(1)
    const fill =
      'const held = []; let count; try { for (;;) held.push(new Uint8Array(10_000)) } catch { count = held.length; held.length = 0 } return count'
    const first = await returned(fill)
    await run('')
    expect(await returned(fill)).toBe(first)
  })
})

describe('each run has its own', () => {
  it('random numbers', async () => {
    const drawn = new Set<unknown>()
    for (let index = 0; index < 30; index += 1) {
      const numbers = await returned('return [Math.random(), Math.random(), crypto.randomUUID()]')
      for (const one of numbers as unknown[]) drawn.add(one)
    }
    expect(drawn.size).toBe(90)
    const mean = await returned(
      'let sum = 0; for (let i = 0; i < 1e4; i++) sum += Math.random(); return sum / 1e4',
    )
    expect(mean).toBeCloseTo(0.5, 1)
  })

  it('clock', async () => {
    const times: unknown[] = []
    for (let index = 0; index < 3; index += 1) {
      const before = Date.now()
      const now = await returned(
        'return [Date.now(), new Date().getTime(), Date.parse(new Date().toISOString())]',
      )
      for (const time of now as number[]) {
        expect(time).toBeGreaterThanOrEqual(before)
        expect(time).toBeLessThanOrEqual(Date.now())
      }
      times.push(now)
    }
    expect(times).toHaveLength(3)
  })

  it('time zone', async () => {
    const { TZ: former } = process.env
    const code =
      'return [new Date(0).getHours(), new Date(0).getTimezoneOffset(), String(new Date(0)).slice(16, 33)]'
    try {
      process.env.TZ = 'Asia/Tokyo'
      expect(await returned(code)).toEqual([9, -540, '09:00:00 GMT+0900'])
      process.env.TZ = 'America/Lima'
      expect(await returned(code)).toEqual([19, 300, '19:00:00 GMT-0500'])
    } finally {
      if (former === undefined) delete process.env.TZ
      else process.env.TZ = former
    }
  })
})

describe('owners on one thread', () => {
  it('take turns 1,000 times, and find nothing of each other', async () => {
    let answerLate: (() => void)[] = []
    const fetch = (async (url: string) => {
      const answer = { status: 200, url, headers: new Headers(), text: () => url }
      // The run that sent it has ended by then, and the next one waits for its own with the same number.
      if (url.endsWith('late')) await new Promise<void>(resolve => answerLate.push(resolve))
      else for (const resolve of answerLate.splice(0)) resolve()
      return answer
    }) as unknown as SandboxOptions['fetch']
    const sandbox = createSandbox({ log: createLog('silent'), fetch, maxThreads: 1 })
    const code = `
      const found = [globalThis.mark, {}.mark, [].mark, Math.mark, Symbol.keyFor(Symbol.for('mark')) === 'mark' ? undefined : 1]
      const native = [JSON.parse('[1]')[0], [2].map(one => one)[0], new Date(0).getTime(), typeof Promise.prototype.then, 'a'.localeCompare('b', 'de')]
      const answer = await (await fetch('http://h/' + args.owner + args.turn)).text()
      console.log(args.owner + args.turn)
      globalThis.mark = Object.prototype.mark = Array.prototype.mark = Math.mark = args.owner
      JSON.parse = Array.prototype.map = Date.prototype.getTime = () => { throw args.owner }
      Promise.prototype.finally = undefined
      setTimeout(() => console.log(args.owner + ' late'), 0)
      fetch('http://h/late').then(() => console.log(args.owner + ' late'))
      ;(async () => { for (;;) { await null; globalThis.mark = args.owner } })()
      return { found: found.filter(one => one !== undefined), native, answer }`
    try {
      for (let turn = 0; turn < 1000; turn += 1) {
        const owner = turn % 2 === 0 ? 'one' : 'two'
        const result = await sandbox.run({ code, argument: { owner, turn }, owner })
        if (result.outcome !== 'returned') throw new Error(result.message)
        expect(result.value).toEqual({
          found: [],
          native: [1, 2, 0, 'function', -1],
          answer: `http://h/${owner}${turn}`,
        })
        expect(result.console).toEqual([{ level: 'log', text: `${owner}${turn}` }])
      }
    } finally {
      for (const resolve of answerLate) resolve()
      answerLate = []
      await sandbox.close()
    }
  })
})
