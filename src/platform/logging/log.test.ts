import { expect, it, onTestFinished, vi } from 'vitest'
import { storageFull } from '../disk.ts'
import { AppError } from '../errors.ts'
import { createLog } from './log.ts'

function collectingLog(level: string) {
  const lines: string[] = []
  return { log: createLog(level, { write: line => lines.push(line) }), lines }
}

it('writes one JSON object a line, without the name of the machine', () => {
  const { log, lines } = collectingLog('info')
  log.info({ path: '/x' }, 'request')
  expect(lines).toHaveLength(1)
  expect(lines[0]?.endsWith('\n')).toBe(true)
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 30,
    time: expect.any(Number),
    path: '/x',
    msg: 'request',
  })
})

it('leaves out what is below its level', () => {
  const { log, lines } = collectingLog('warn')
  log.info('quiet')
  log.warn('loud')
  expect(lines.map(line => JSON.parse(line).msg)).toEqual(['loud'])
  const silent = collectingLog('silent')
  silent.log.fatal('never')
  expect(silent.lines).toEqual([])
})

it.each([
  'authorization',
  'cookie',
  'token',
  'apiKey',
  'api_key',
  'secret',
  'accessKeyId',
  'secretAccessKey',
  'password',
  'sealed',
  'credentials',
  'headers',
])('cuts out %s at every depth that we log', field => {
  const { log, lines } = collectingLog('info')
  const value = 'hunter2'
  log.info({ [field]: value, one: { [field]: value, two: { [field]: { nested: value } } } }, 'deep')
  expect(lines.join('')).not.toContain(value)
  expect(lines.join('').match(/\[redacted\]/g)).toHaveLength(3)
})

it('an error underneath is logged by its message, without the fields that a library put on it', () => {
  const { log, lines } = collectingLog('info')
  const cause = Object.assign(new Error('upstream said no'), {
    requestHeaders: { 'x-key': 'hunter2' },
    requestBodyValues: { prompt: 'hunter2' },
  })
  log.warn({ err: new AppError('MODEL_ERROR', 'The model failed.', { cause }) }, 'failed')
  expect(lines.join('')).toContain('upstream said no')
  expect(lines.join('')).not.toContain('hunter2')
})

it('tells once a minute of a full disk, whoever meets it, and of all else each time', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { log, lines } = collectingLog('info')
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  const tell = () => {
    log.warn({ err: storageFull() }, 'full')
    log
      .child({ agentId: 'a' })
      .error({ err: new AppError('INTERNAL_ERROR', 'Why.', { cause: full }) }, 'full')
    log.error({ err: new Error('other') }, 'other')
  }
  tell()
  tell()
  expect(lines.map(line => JSON.parse(line).msg)).toEqual(['full', 'other', 'other'])
  vi.advanceTimersByTime(60_000)
  tell()
  expect(lines.map(line => JSON.parse(line).msg).slice(3)).toEqual(['full', 'other'])
})
