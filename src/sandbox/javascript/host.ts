/** The engine's requests: a name and JSON (a list of values, or one string), untrusted; returns JSON. */

import { isDeeperThan } from '#platform/json-depth.ts'
import { hasMoreValuesThan } from '#platform/json-values.ts'
import { type HostFunction, hostFunctions, numberOf, pairsOf, textOf } from './host-functions.ts'
import { bounds, type RunLimits } from './limits.ts'
import { localize } from './localize.ts'
import { type ConsoleLine, consoleLevels, type Ending, type JsonValue } from './outcome.ts'
import type { Pending } from './pending.ts'

interface HostOptions {
  limits: RunLimits
  pending: Pending
  write(line: ConsoleLine): void
  end(how: Ending): void
  /** Returns true if the engine's memory is nearly used up. */
  isFull(): boolean
}

export function createHost({ limits, pending, write, end, isFull }: HostOptions) {
  const functions: Record<string, HostFunction> = {
    ...hostFunctions,
    intl: localize,
    ...Object.fromEntries(consoleLevels.map(level => [level, text => writeLine(level, text)])),
    setTimeout(id, delay) {
      pending.startTimer(numberOf(id), numberOf(delay))
      return null
    },
    clearTimeout: id => pending.stopTimer(numberOf(id)),
    fetch(id, url, method, headers, body) {
      pending.startRequest(numberOf(id), {
        url: textOf(url),
        method: textOf(method),
        headers: pairsOf(headers),
        body: body === null ? null : textOf(body),
      })
      return null
    },
    threw(message) {
      const text = textOf(message)
      end(isAboutMemory(text, isFull()) ? outOfMemory() : threw(text))
      return null
    },
  }

  function writeLine(level: ConsoleLine['level'], text: unknown): null {
    write({ level, text: textOf(text) })
    return null
  }

  return function host(name: string, json: string): string {
    if (name === 'returned') {
      end(returned(json, limits))
      return '[true, null]'
    }
    return JSON.stringify(answer(name, json))
  }

  function answer(name: string, json: string): [isDone: boolean, JsonValue, isOutOfRange?: boolean] {
    try {
      if (json.length > bounds.hostCallCharacters * 2) throw new TypeError('This text is too long.')
      const values: unknown = JSON.parse(json)
      const called = Object.hasOwn(functions, name) ? functions[name] : undefined
      if (called === undefined) throw new TypeError('The host has no such function.')
      return [true, Array.isArray(values) ? called(...values) : called(values)]
    } catch (error) {
      const message = error instanceof Error ? error.message : 'The host failed.'
      return [false, message, error instanceof RangeError]
    }
  }
}

function returned(json: string, { resultCharacters }: RunLimits): Ending {
  if (json.length > resultCharacters) {
    return threw(
      `The returned value is longer than ${resultCharacters} characters as JSON. Return less of it.`,
    )
  }
  if (hasMoreValuesThan(json, bounds.resultValues)) {
    return threw(`The returned value holds more than ${bounds.resultValues} values. Return fewer, or a text.`)
  }
  if (isDeeperThan(bounds.depth, json)) {
    return threw(`The returned value is nested more than ${bounds.depth} levels deep.`)
  }
  try {
    JSON.parse(json)
    return { outcome: 'returned', json }
  } catch {
    return threw('The returned value could not be made JSON.')
  }
}

/** Recognises a lack of memory: the engine throws an ordinary error, or null if it has no room for one. */
function isAboutMemory(message: string, isFull: boolean): boolean {
  return message.startsWith('InternalError: out of memory') || (isFull && message === 'The code threw null')
}

export function threw(message: string): Ending {
  return { outcome: 'threw', message: message.slice(0, bounds.messageCharacters) }
}

export function outOfMemory(): Ending {
  return {
    outcome: 'out-of-memory',
    message: 'The code was stopped because it holds more than 64 MB of memory. Keep less at a time.',
  }
}
