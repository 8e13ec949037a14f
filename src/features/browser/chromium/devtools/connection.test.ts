import { PassThrough } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { DevToolsConnection } from './connection.ts'
import { limits } from './framing.ts'
import { type Message, parseMessage } from './parse-message.ts'
import { createPipe } from './pipe.ts'

/** A connection whose browser is the test. */
function connect() {
  const commands = new PassThrough()
  const events = new PassThrough()
  const end = vi.fn(() => void events.destroy())
  const parseLarge = vi.fn(async (bytes: Buffer) => parseMessage(bytes))
  const connection = new DevToolsConnection(createPipe({ commands, events, end }), parseLarge)
  const messages: Message[] = []
  connection.onmessage = message => void messages.push(message)
  const onclose = vi.fn()
  connection.onclose = onclose
  const write = (text: string) => void events.write(`${text}\0`)
  const watcher = { onExcess: vi.fn(), onLinesLeftOut: vi.fn() }
  connection.watch('C', watcher)
  for (const [sessionId, contextId] of [
    ['S', 'C'],
    ['T', 'D'],
  ])
    write(
      JSON.stringify({
        method: 'Target.attachedToTarget',
        params: {
          sessionId,
          targetInfo: { targetId: `P${sessionId}`, browserContextId: contextId },
          waitingForDebugger: true,
        },
      }),
    )
  return { connection, commands, events, messages, onclose, end, parseLarge, write, watcher }
}

type Connected = ReturnType<typeof connect>

const answer = (id: number, sessionId: string, value: unknown) =>
  JSON.stringify({ id, result: { value }, sessionId })

/** Until the browser is known to have been read to its end. */
async function settle({ write, messages }: Connected): Promise<void> {
  write('{"id":99,"result":{}}')
  while (messages.at(-1)?.id !== 99) await nextTurn()
}

describe('messages', () => {
  it('are the same wherever the stream was cut, one in a turn, in order', async () => {
    const stage = connect()
    const texts = ['{"id":1,"result":{}}', answer(2, 'S', 'ä€😀'), answer(3, 'S', 'x'.repeat(3_000_000))]
    const bytes = Buffer.from(texts.map(text => `${text}\0`).join(''))
    for (const [start, end] of [
      [0, 1],
      [1, 30],
      [30, 58],
      [58, 59],
      [59, 60],
      [60, bytes.length],
    ])
      stage.events.write(bytes.subarray(start, end))
    await settle(stage)
    expect(stage.messages.slice(2, -1)).toEqual(texts.map(text => JSON.parse(text)))
    expect(stage.parseLarge).toHaveBeenCalledTimes(1)
  })

  const tooLong = 'x'.repeat(limits.message)
  const cases: [name: string, text: string, isHarmless: boolean][] = [
    ['event', JSON.stringify({ method: 'Page.frameNavigated', params: { tooLong }, sessionId: 'S' }), false],
    ['answer', answer(7, 'S', tooLong), false],
    ['picture', answer(8, 'S', tooLong), true],
    ['answer of too many values', answer(7, 'S', Array(1_100_000).fill(0)), false],
    ['answer that looks like another', answer(7, 'S', `${tooLong}","sessionId":"T"}`), false],
    ['answer that is just short enough', answer(7, 'S', tooLong.slice(60)), true],
  ]

  it.each(cases)(
    'that are too much end the session that they are of: %s',
    async (_name, text, isHarmless) => {
      const stage = connect()
      stage.connection.send({ id: 8, method: 'Page.captureScreenshot', sessionId: 'S' })
      for (let at = 0; at < text.length; at += 65_536) stage.events.write(text.slice(at, at + 65_536))
      stage.write('')
      await settle(stage)
      expect(stage.watcher.onExcess).toHaveBeenCalledTimes(isHarmless ? 0 : 1)
      const [, , reached] = stage.messages
      if (isHarmless) expect(reached).toEqual(JSON.parse(text))
      else if (text.startsWith('{"id"'))
        expect(reached).toMatchObject({
          id: 7,
          sessionId: 'S',
          error: { message: expect.stringMatching(/at once/) },
        })
      expect(stage.onclose).not.toHaveBeenCalled()
    },
  )

  it('of a console are left out beyond so many, and so much, a second, and are counted', async () => {
    // All of it within one second, however long that takes here.
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const stage = connect()
    const line = (sessionId: string, args: unknown[]) =>
      JSON.stringify({ method: 'Runtime.consoleAPICalled', params: { args }, sessionId })
    for (let lines = 0; lines < 300; lines += 1) stage.write(line('S', []))
    for (let lines = 0; lines < 5; lines += 1)
      stage.write(line('T', Array(60).fill({ value: 'x'.repeat(21_000) })))
    await settle(stage)
    expect(stage.messages.filter(({ sessionId }) => sessionId === 'S')).toHaveLength(200)
    expect(stage.messages.filter(({ sessionId }) => sessionId === 'T')).toHaveLength(3)
    expect(stage.messages.at(-2)?.params).toEqual({ args: Array(50).fill({ value: 'x'.repeat(20_000) }) })
    vi.advanceTimersByTime(1000)
    expect(stage.watcher.onLinesLeftOut.mock.calls).toEqual([['PS', 100]])
  })
})

describe('a connection ends, and nothing else with it, when', () => {
  const broken = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
  const causes: [name: string, act: (stage: Connected) => void][] = [
    ['the browser sends no JSON', ({ write }) => write('no JSON')],
    ['it sends a large message that is no JSON', ({ write }) => write(`"${'x'.repeat(2_000_000)}`)],
    ['its pipe ends', ({ events }) => void events.end()],
    ['its pipe breaks midway', ({ events }) => void events.destroy(broken)],
    ['its pipe for commands breaks', ({ commands }) => void commands.destroy(broken)],
    [
      'what it sends is not understood',
      stage => {
        stage.connection.onmessage = () => {
          throw new Error('What is this?')
        }
        stage.write('{"id":5,"result":{}}')
      },
    ],
    [
      'the browser itself sends too much',
      ({ write }) => write(`{"method":"Target.targetCreated","params":"${'x'.repeat(limits.message)}"}`),
    ],
    ['it is closed', ({ connection }) => connection.close()],
  ]

  it.each(causes)('%s', async (_name, act) => {
    const stage = connect()
    await nextTurn()
    act(stage)
    await stage.connection.closed
    expect(stage.onclose).toHaveBeenCalledTimes(1)
    expect(stage.end).toHaveBeenCalled()
    stage.connection.send({ id: 1, method: 'Browser.getVersion' })
    expect(await stage.connection.answers()).toBe(false)
  })
})
